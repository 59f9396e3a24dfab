package write_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// pushing is a repository, and clients of a token that may read it, and of one that may
// push and open pull requests.
type pushing struct {
	hub      *githubtest.Server
	repo     *githubtest.Repo
	ref      pull.Ref
	reader   *github.Client
	mayRead  *write.Client
	mayWrite *write.Client
}

func newPushing(t *testing.T) pushing {
	t.Helper()
	s := githubtest.New(t)
	p := pushing{hub: s, repo: s.AddRepo("o/r", githubtest.RepoOptions{
		Files: githubtest.Tree{"a.go": "one\n", "dir/run.sh": "exit\n", "dir/sub/b.go": "b\n"}}),
		ref: pull.Ref{Owner: "o", Repo: "r"}}
	p.repo.Chmod("main", "dir/run.sh", "100755")
	client := func(right string) *github.Client {
		token := s.AppToken(p.repo, map[string]string{"contents": right, "pull-requests": right, "issues": right})
		hc := transport.New(transport.Options{})
		t.Cleanup(hc.CloseIdleConnections)
		c, err := github.New(github.Options{APIURL: s.URL, Token: token, HTTP: hc})
		require.NoError(t, err)
		return c
	}
	p.reader = client("read")
	p.mayRead, p.mayWrite = write.New(p.reader), write.New(client("write"))
	return p
}

func (p pushing) commit(parent string) write.Commit {
	return write.Commit{Branch: "fix/PAY-1-round", Parent: parent, Headline: "fix(PAY-1): round", Body: "why",
		Files: []change.File{{Path: "a.go", Content: "ONE\n\x00\xff"},
			{Path: "dir/new.go", Content: "n"}}}
}

func TestABranchGetsOneCommitAndADraftPullRequest(t *testing.T) {
	t.Parallel()
	p, ctx := newPushing(t), t.Context()
	base := p.repo.Head("main")
	require.NoError(t, p.mayWrite.Branch(ctx, p.ref, "fix/PAY-1-round", base))
	require.ErrorIs(t, p.mayWrite.Branch(ctx, p.ref, "fix/PAY-1-round", base), write.ErrExists)

	sha, err := p.mayWrite.Commit(ctx, p.ref, p.commit(base))
	require.NoError(t, err)
	require.Equal(t, githubtest.Tree{"a.go": "ONE\n\x00\xff", "dir/new.go": "n", "dir/run.sh": "exit\n",
		"dir/sub/b.go": "b\n"},
		p.repo.Tree(sha))
	require.Equal(t, "100755", p.repo.Mode(sha, "dir/run.sh"), "what is left alone keeps its mode")
	tip, err := p.reader.Tip(ctx, "o", "r", "fix/PAY-1-round")
	require.NoError(t, err)
	require.Equal(t, github.Tip{SHA: sha, Parents: []string{base}, Message: "fix(PAY-1): round\n\nwhy"}, tip)
	changed, err := p.reader.ChangedPaths(ctx, "o", "r", base, sha)
	require.NoError(t, err)
	require.Equal(t, []string{"a.go", "dir/new.go"}, changed)

	_, err = p.mayWrite.Commit(ctx, p.ref, p.commit(base))
	require.ErrorIs(t, err, write.ErrMoved, "the branch does not point to the expected commit any more")
	require.Equal(t, sha, p.repo.Head("fix/PAY-1-round"))

	asked := write.NewPull{Title: "[PAY-1] round", Body: "what", Branch: "fix/PAY-1-round", Base: "main"}
	url, err := p.mayWrite.OpenPull(ctx, p.ref, asked)
	require.NoError(t, err)
	require.True(t, p.repo.Pulls()[0].IsDraft())
	_, err = p.mayWrite.OpenPull(ctx, p.ref, asked)
	require.ErrorIs(t, err, write.ErrExists)
	opened, err := p.reader.OpenedFrom(ctx, "o", "r", "fix/PAY-1-round")
	require.NoError(t, err)
	require.Equal(t, []github.Opened{{URL: url, Body: "what", Branch: "fix/PAY-1-round", Open: true}}, opened)
	other, err := p.reader.OpenedFrom(ctx, "o", "r", "main")
	require.NoError(t, err)
	require.Empty(t, other)
}

func TestEntriesAreWhatGitHas(t *testing.T) {
	t.Parallel()
	p := newPushing(t)
	p.repo.Commit("main", "link", p.repo.Tree("main").With(githubtest.Tree{"link": githubtest.Link("a.go")}))
	found, err := p.reader.AllEntries(t.Context(), "o", "r", p.repo.Head("main"))
	require.NoError(t, err)
	// the hashes are those that git gives these files: git write-tree, git ls-tree -rt
	require.Equal(t, map[string]diff.Entry{
		"a.go":         {Mode: "100644", Blob: "5626abf0f72e58d7a153368ba57db4c673c0e171"},
		"dir/run.sh":   {Mode: "100755", Blob: "a3abe50906e1a7234d71453aaa367b0f8d7a9c2d"},
		"dir/sub/b.go": {Mode: "100644", Blob: "61780798228d17af2d34fce4cfbdf35556832472"},
		"link":         {Mode: "120000", Blob: "66df565d857050e7356e7ab43aad3513f13e4dce"},
	}, found)
	at := p.repo.Commit("rel/1#a%41", "x", githubtest.Tree{"x": "y"})
	want, err := p.reader.AllEntries(t.Context(), "o", "r", at)
	require.NoError(t, err)
	found, err = p.reader.AllEntries(t.Context(), "o", "r", "rel/1#a%41")
	require.NoError(t, err)
	require.Equal(t, want, found, "of a branch, whatever its name")
}

// TestAPushThatIsRefusedSaysWhatToDo holds each refusal to its sentinel, and to having
// written nothing.
func TestAPushThatIsRefusedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	p, ctx := newPushing(t), t.Context()
	base := p.repo.Head("main")
	require.ErrorIs(t, p.mayRead.Branch(ctx, p.ref, "b", base), write.ErrMayNotPush)
	_, err := p.mayRead.Commit(ctx, p.ref, p.commit(base))
	require.ErrorIs(t, err, write.ErrMayNotPush)
	_, err = p.mayWrite.Commit(ctx, p.ref, p.commit(base))
	require.ErrorIs(t, err, github.ErrNotFound, "no such branch")
	_, err = p.mayRead.OpenPull(ctx, p.ref, write.NewPull{Title: "t", Branch: "b", Base: "main"})
	require.ErrorIs(t, err, write.ErrMayNotOpen)
	_, err = p.mayRead.Comment(ctx, pull.Ref{Owner: "o", Repo: "r", Number: 7}, "hello")
	require.ErrorIs(t, err, write.ErrMayNotComment)

	p.repo.Commit("b", "b", githubtest.Tree{"x": "y"})
	p.repo.Set(func(o *githubtest.Settings) { o.NoPulls = true })
	_, err = p.mayWrite.OpenPull(ctx, p.ref, write.NewPull{Title: "t", Branch: "b", Base: "main"})
	require.ErrorIs(t, err, write.ErrForbidden)
	require.Equal(t, []string{"b", "main"}, p.repo.Branches())
	require.Empty(t, p.repo.Pulls())
}

// GraphQL answers a rate limit with status 200, and has done nothing.
func TestACommitWaitsForARateLimit(t *testing.T) {
	t.Parallel()
	p, ctx := newPushing(t), t.Context()
	base := p.repo.Head("main")
	require.NoError(t, p.mayWrite.Branch(ctx, p.ref, "fix/PAY-1-round", base))
	var waits []time.Duration
	p.mayWrite.Sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
	limited := func(kind, seconds string, times int) {
		p.hub.Fail("POST", "/graphql", githubtest.Fault{Status: http.StatusOK, Times: times,
			Headers: map[string]string{"retry-after": seconds},
			Body:    `{"errors":[{"type":"` + kind + `","message":"API rate limit exceeded for installation ID 1."}]}`})
	}
	limited("RATE_LIMIT", "600", 1)
	_, err := p.mayWrite.Commit(ctx, p.ref, p.commit(base))
	require.ErrorContains(t, err, "/graphql answered 200 OK: API rate limit exceeded for installation ID 1.")
	require.NotErrorIs(t, err, write.ErrUncertain)
	require.Empty(t, waits, "longer than a job waits")

	limited("RATE_LIMITED", "20", 2)
	sha, err := p.mayWrite.Commit(ctx, p.ref, p.commit(base))
	require.NoError(t, err)
	require.Equal(t, []time.Duration{20 * time.Second, 20 * time.Second}, waits)
	require.Equal(t, sha, p.repo.Head("fix/PAY-1-round"))
}

// TestG31_ALostAnswerIsNotKnown drops the answer of each write after it was done: the
// error says that it is not known, and nothing is sent twice.
func TestG31_ALostAnswerIsNotKnown(t *testing.T) {
	t.Parallel()
	p, ctx := newPushing(t), t.Context()
	base := p.repo.Head("main")
	p.repo.AddIssue(7, "maya", "Round", "")
	lost := func(do func() error) {
		t.Helper()
		p.hub.Fail("POST", "**", githubtest.Fault{DropConnection: true, AfterWrite: true, Times: 1})
		require.ErrorIs(t, do(), write.ErrUncertain)
		p.hub.ClearFaults()
	}
	lost(func() error { return p.mayWrite.Branch(ctx, p.ref, "fix/PAY-1-round", base) })
	lost(func() error { _, err := p.mayWrite.Commit(ctx, p.ref, p.commit(base)); return err })
	lost(func() error {
		_, err := p.mayWrite.OpenPull(ctx, p.ref, write.NewPull{Title: "t", Branch: "fix/PAY-1-round", Base: "main"})
		return err
	})
	at := pull.Ref{Owner: "o", Repo: "r", Number: 7}
	lost(func() error { _, err := p.mayWrite.Comment(ctx, at, "see #8"); return err })
	require.Equal(t, []string{"see #8"}, p.repo.Said(7))
	where, found, err := p.reader.FindComment(ctx, at, "#8")
	require.NoError(t, err)
	require.True(t, found)
	require.Contains(t, where, "/issues/7#issuecomment-")
	require.Len(t, p.repo.Pulls(), 1)

	p.hub.Fail("POST", "**", githubtest.Fault{Status: http.StatusBadGateway, Times: 1})
	require.ErrorIs(t, p.mayWrite.Branch(ctx, p.ref, "other", base), write.ErrUncertain)
}
