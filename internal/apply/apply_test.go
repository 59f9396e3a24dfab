package apply_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/apply"
	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

const branch = "fix/PAY-88-round-half-up"

var (
	digest = strings.Repeat("ab", 32)
	tree   = githubtest.Tree{"a.go": "one\n", "bin/run": "exit\n", "dir/b.go": "b\n"}
	want   = tree.With(githubtest.Tree{"a.go": "ONE\n", "dir/new/c.go": "c"})
)

// site is a repository with a change to be carried out there.
type site struct {
	t    *testing.T
	hub  *githubtest.Server
	repo *githubtest.Repo
	q    apply.Request
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, hub: githubtest.New(t)}
	s.repo = s.hub.AddRepo("o/r", githubtest.RepoOptions{Files: tree})
	base := s.repo.Chmod("main", "bin/run", "100755")
	found, err := s.applier().Read.AllEntries(t.Context(), "o", "r", base)
	require.NoError(t, err)
	s.q = apply.Request{
		Ref: pull.Ref{Host: "github.com", Owner: "o", Repo: "r"}, Base: base, Into: "main", Branch: branch,
		Files: []change.File{
			change.Of("a.go", "", found["a.go"].Blob, "one\n", "ONE\n"), change.Of("dir/new/c.go", "", "", "", "c"),
		},
		Headline: "fix(PAY-88): round half up", Body: "why", CoAuthor: "maya <7+maya@users.noreply.github.com>",
		Title: "[PAY-88] round half up", Text: "what & why", Thread: "o/r~PAY-88:" + base, Digest: digest,
	}
	return s
}

// applier is a job's, with its own token.
func (s *site) applier() apply.Applier {
	hc := transport.New(transport.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	s.t.Cleanup(hc.CloseIdleConnections)
	c, err := github.New(github.Options{APIURL: s.hub.URL, HTTP: hc, Token: s.hub.AppToken(s.repo,
		map[string]string{"contents": "write", "pull-requests": "write"})})
	require.NoError(s.t, err)
	return apply.Applier{Read: c, Write: write.New(c)}
}

// carryOut is both steps of a job.
func (s *site) carryOut() (apply.Applied, string, error) {
	a := s.applier()
	at, err := a.Commit(s.t.Context(), s.q)
	if err != nil {
		return at, "", err
	}
	url, err := a.Open(s.t.Context(), s.q, at)
	return at, url, err
}

// stands holds the repository to one branch beside main, with the approved tree to the
// byte and mode, and one pull request.
func (s *site) stands(at apply.Applied, pulls int, beside ...string) {
	s.t.Helper()
	require.ElementsMatch(s.t, append(beside, at.Branch, "main"), s.repo.Branches())
	require.Equal(s.t, want, s.repo.Tree(at.Commit))
	require.Equal(s.t, "100755", s.repo.Mode(at.Commit, "bin/run"))
	require.Len(s.t, s.repo.Pulls(), pulls)
}

// TestAnApprovedChangeIsCarriedOutOnce runs it, and runs it again.
func TestAnApprovedChangeIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	at, url, err := s.carryOut()
	require.NoError(t, err)
	require.Equal(t, branch, at.Branch)
	s.stands(at, 1)
	require.Equal(t, "fix(PAY-88): round half up\n\nwhy\n\nPR-Review-Thread: "+s.q.Thread+"\nPR-Review-Draft: "+digest+
		"\nCo-authored-by: maya <7+maya@users.noreply.github.com>", s.repo.Message(at.Commit))
	p := s.repo.Pulls()[0]
	title, body := p.Text()
	require.True(t, p.IsDraft())
	require.Equal(t, "[PAY-88] round half up", title)
	require.Equal(t, "what & why\n\n<!-- pr-implement:v1 thread="+s.q.Thread+" digest="+digest+" commit="+at.Commit+
		" -->", body)
	opened, found, err := apply.Earlier(t.Context(), s.applier().Read, s.q.Ref, digest[:16], "")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, url, opened.URL)

	for _, c := range []struct {
		name   string
		change func()
	}{
		{"at once", func() {}},
		{"somebody added a commit", func() { s.repo.Commit(branch, "more", want.With(githubtest.Tree{"z": "z"})) }},
		{"the base has moved", func() { s.repo.Commit("main", "other", tree.With(githubtest.Tree{"z": "z"})) }},
		{"the branch was deleted on closing", func() { s.repo.Pulls()[0].Close(); s.repo.DeleteBranch(branch) }},
		{"somebody made it anew", func() { s.repo.Commit(branch, "a person's", tree) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.change()
			again, address, err := s.carryOut()
			require.NoError(t, err)
			require.Equal(t, at, again)
			require.Equal(t, url, address)
			require.Len(t, s.repo.Pulls(), 1)
			where, own, found, err := s.applier().Stands(t.Context(), s.q)
			require.NoError(t, err)
			require.Equal(t, []any{branch, true, true}, []any{where, own, found})
		})
	}
}

// TestAForksPullRequestWithOurMarkIsNotOurs has a stranger open one from a fork, on a
// branch of the same name and with the mark of the approved draft in its text.
func TestAForksPullRequestWithOurMarkIsNotOurs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	fork := s.hub.AddRepo("eve/r", githubtest.RepoOptions{ForkOf: s.repo})
	s.repo.AddPull(githubtest.PullOptions{Author: "eve", From: fork, Head: branch, HeadFiles: want,
		Body: "<!-- pr-implement:v1 thread=" + s.q.Thread + " digest=" + digest + " commit=" + s.q.Base + " -->"})
	_, found, err := apply.Earlier(t.Context(), s.applier().Read, s.q.Ref, digest[:16], s.q.Thread)
	require.NoError(t, err)
	require.False(t, found)
	at, url, err := s.carryOut()
	require.NoError(t, err)
	s.stands(at, 2)
	s.repo.AddPull(githubtest.PullOptions{Author: "maya", HeadFiles: want, Body: "without a mark"})
	_, found, err = apply.Earlier(t.Context(), s.applier().Read, s.q.Ref, "0123456789abcdef", "")
	require.NoError(t, err)
	require.False(t, found)
	opened, found, err := apply.Earlier(t.Context(), s.applier().Read, s.q.Ref, "", s.q.Thread)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, url, opened.URL)
}

// TestG31_AJobThatDiesAtAnyWriteGoesOn loses each write's answer, before and after it was
// done, and starts another job: one branch, one commit, one pull request.
func TestG31_AJobThatDiesAtAnyWriteGoesOn(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"branch": "**/git/refs", "commit": "/graphql",
		"pull request": "**/pulls"} {
		for when, fault := range map[string]githubtest.Fault{
			"lost before": {DropConnection: true, Times: 1},
			"lost after":  {DropConnection: true, AfterWrite: true, Times: 1},
			"failing":     {Status: 502, Times: 1}, "failing after": {Status: 502, AfterWrite: true, Times: 1},
		} {
			t.Run(name+", "+when, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				s.hub.Fail("POST", path, fault)
				_, _, _ = s.carryOut()
				s.hub.ClearFaults()
				at, _, err := s.carryOut()
				require.NoError(t, err)
				s.stands(at, 1)
			})
		}
	}
}

func TestP5_TwoApprovalsAtOnceGiveOnePullRequest(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := newSite(t)
		var all sync.WaitGroup
		urls := make([]string, 4)
		for i := range urls {
			all.Go(func() {
				_, url, err := s.carryOut()
				urls[i] = url
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		at, url, err := s.carryOut()
		require.NoError(t, err)
		s.stands(at, 1)
		require.Equal(t, []string{url, url, url, url}, urls)
	}
}

// TestOnlyAnotherDraftCountsTheBranchUp has the name taken by what is not this draft's.
func TestOnlyAnotherDraftCountsTheBranchUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.repo.Commit(branch, "a person's", tree.With(githubtest.Tree{"a.go": "mine\n"}))
	other := s.q
	other.Digest, other.Thread = strings.Repeat("cd", 32), "o/r~PAY-88:"+strings.Repeat("0", 40)
	at, err := s.applier().Commit(t.Context(), other)
	require.NoError(t, err)
	require.Equal(t, branch+"-2", at.Branch)
	at, _, err = s.carryOut()
	require.NoError(t, err)
	require.Equal(t, branch+"-3", at.Branch)
	s.stands(at, 1, branch, branch+"-2")

	rival := s.q
	rival.Digest = strings.Repeat("ef", 32)
	_, err = s.applier().Commit(t.Context(), rival)
	require.Equal(t, 13, problem.Check(err), "another draft of the same thread: %v", err)
	s.repo.Pulls()[0].Close()
	s.repo.DeleteBranch(at.Branch)
	_, err = s.applier().Commit(t.Context(), rival)
	require.Equal(t, 13, problem.Check(err), "its pull request says so without the branch: %v", err)
}

// TestNothingIsPushedThatWasNotApproved holds each refusal, and that it leaves nothing.
func TestNothingIsPushedThatWasNotApproved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		check  int
		spoil  func(*site)
		remain []string
	}{
		"the base has moved": {9, func(s *site) { s.repo.Commit("main", "other", tree) }, nil},
		"an executable file": {9, func(s *site) {
			s.q.Files[1] = change.Of("bin/run", "", "e", "exit\n", "exit 1\n")
		}, nil},
		"a link": {9, func(s *site) {
			s.q.Base = s.repo.Commit("main", "link", tree.With(githubtest.Tree{"dir/l": githubtest.Link("b.go")}))
			s.q.Files = []change.File{change.Of("dir/l", "", "e", "b.go", "c.go")}
		}, nil},
		"in place of a folder": {9, func(s *site) { s.q.Files[1] = change.Of("dir", "", "", "", "x\n") }, nil},
		"below a file":         {9, func(s *site) { s.q.Files[1].Path = "a.go/x" }, nil},
		"new and there already": {9, func(s *site) {
			s.q.Files[1].Path = "dir/b.go"
		}, nil},
		"gone": {9, func(s *site) { s.q.Files[0].Path = "gone.go" }, nil},
		"drafted on another text": {9, func(s *site) {
			s.q.Files[0].Base = strings.Repeat("0", 40)
		}, nil},
		"a commit that says it is ours": {13, func(s *site) {
			s.repo.Commit(branch, "x\n\nPR-Review-Draft: "+digest, want.With(githubtest.Tree{"evil": "e"}))
		}, []string{branch}},
		"one of ours with another mode": {13, func(s *site) {
			s.repo.Commit(branch, "x\n\nPR-Review-Draft: "+digest, want)
			s.repo.Chmod(branch, "a.go", "100755")
		}, []string{branch}},
		"too many of the name": {0, func(s *site) {
			for _, n := range []string{"", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"} {
				s.repo.Commit(branch+n, "x", tree.With(githubtest.Tree{"x": n}))
			}
		}, []string{branch, branch + "-2", branch + "-3", branch + "-4", branch + "-5", branch + "-6", branch + "-7",
			branch + "-8", branch + "-9"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			c.spoil(s)
			_, _, err := s.carryOut()
			require.Error(t, err)
			require.Equal(t, c.check, problem.Check(err), "%v", err)
			require.ElementsMatch(t, append(c.remain, "main"), s.repo.Branches())
			require.Empty(t, s.repo.Pulls())
		})
	}
}

// TestAPullRequestThatFailsLeavesTheBranch has the repository's setting off, and turns
// it on: the error says where, and the next run continues.
func TestAPullRequestThatFailsLeavesTheBranch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.repo.Set(func(o *githubtest.Settings) { o.NoPulls = true })
	at, _, err := s.carryOut()
	text := problem.Of(err).Error()
	require.Contains(t, text, "the change is on branch "+branch+", commit "+at.Commit[:7])
	require.Contains(t, text, "Settings, Actions, General, Workflow permissions")
	s.stands(at, 0)
	s.repo.Set(func(o *githubtest.Settings) { o.NoPulls = false })
	s.hub.Fail("POST", "**/pulls", githubtest.Fault{Status: 502})
	_, url, err := s.carryOut()
	require.Error(t, err)
	require.Empty(t, url)
	s.hub.ClearFaults()
	s.repo.Commit(branch, "somebody adds one", want.With(githubtest.Tree{"z": "z"}))
	again, _, err := s.carryOut()
	require.NoError(t, err)
	require.Equal(t, at, again)
	s.stands(at, 1)
}

func TestALinkLeavesThePullRequestToAPerson(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.q.Link, s.q.Text = true, strings.Repeat("what & why ", 2000)
	at, url, err := s.carryOut()
	require.NoError(t, err)
	s.stands(at, 0)
	require.Equal(t, "https://github.com/o/r/compare/main..."+branch+"?expand=1", url)
	form := apply.Form(s.q, at)
	require.True(t, strings.HasPrefix(form, url+"&title=%5BPAY-88%5D+round+half+up&body=what+%26+why"), form)
	require.LessOrEqual(t, len(form), 7000)

	opened, err := s.applier().Write.OpenPull(t.Context(), s.q.Ref, write.NewPull{Title: "by hand", Branch: at.Branch,
		Base: "main", Body: "without the mark"})
	require.NoError(t, err)
	_, url, err = s.carryOut()
	require.NoError(t, err)
	require.Equal(t, opened, url)
	s.q.Digest = ""
	url, err = s.applier().Opened(t.Context(), s.q, at)
	require.NoError(t, err)
	require.Equal(t, opened, url, "a run that knows no draft finds it too")
	s.repo.Pulls()[0].Close()
	url, err = s.applier().Opened(t.Context(), s.q, at)
	require.NoError(t, err)
	require.Empty(t, url)
}

// TestARefusedCommitNamesTheEmptyBranch has GitHub take the branch and not the commit.
func TestARefusedCommitNamesTheEmptyBranch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hub.Fail("POST", "/graphql", githubtest.Fault{Status: 403, Times: 1})
	_, _, err := s.carryOut()
	require.ErrorContains(t, err, "branch "+branch+" was made, and the commit was refused")
	require.False(t, errors.Is(err, write.ErrUncertain))
	at, _, err := s.carryOut()
	require.NoError(t, err)
	s.stands(at, 1)
}

// TestAPushThatIsNotFoundIsNotRepeated has GitHub show each branch later than it makes it.
func TestAPushThatIsNotFoundIsNotRepeated(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hub.Fail("GET", "**/branches/fix/**", githubtest.Fault{Status: 404})
	_, _, err := s.carryOut()
	require.ErrorIs(t, err, write.ErrUncertain)
	made := 0
	for _, r := range s.hub.Requests() {
		if r.Method == "POST" && strings.HasSuffix(r.Path, "/git/refs") {
			made++
		}
	}
	require.Equal(t, 1, made)
	s.hub.ClearFaults()
	at, _, err := s.carryOut()
	require.NoError(t, err)
	s.stands(at, 1)
}

// TestTheLastTryIsLookedFor has nine writers come first.
func TestTheLastTryIsLookedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hub.Fail("POST", "**/git/refs", githubtest.Fault{Status: 502, Times: 9})
	at, _, err := s.carryOut()
	require.NoError(t, err)
	s.stands(at, 1)
}

// TestABranchCalledAsTheFolderIsInTheWay has a branch fix, beside which Git keeps no fix/x.
func TestABranchCalledAsTheFolderIsInTheWay(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.repo.Commit("fix", "another", githubtest.Tree{"a.go": "two\n"})
	_, _, err := s.carryOut()
	require.ErrorContains(t, err, "creating the branch "+branch)
	s.repo.DeleteBranch("fix")
	at, _, err := s.carryOut()
	require.NoError(t, err)
	s.stands(at, 1)
}

// TestAPersonsBranchIsNoDraft has one of the name that an undecided draft would get.
func TestAPersonsBranchIsNoDraft(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.repo.Commit(branch, "by hand", githubtest.Tree{"a.go": "two\n"})
	s.q.Digest = ""
	_, own, found, err := s.applier().Stands(t.Context(), s.q)
	require.NoError(t, err)
	require.False(t, own || found)
}
