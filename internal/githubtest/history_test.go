package githubtest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v62/github"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

func TestFilesComeInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := make([]githubtest.File, 3001)
	for i := range files {
		files[i] = githubtest.File{Path: fmt.Sprintf("f%04d.go", i), Status: "added", Additions: 1,
			Patch: "@@ -0,0 +1 @@\n+x"}
	}
	w.pull.SetFiles(files)
	c := w.client(t, w.read)
	o := &github.ListOptions{PerPage: 250}
	seen, pages := 0, 0
	for {
		got, r, err := c.PullRequests.ListFiles(t.Context(), "octo", "demo", 1, o)
		require.NoError(t, err)
		require.LessOrEqual(t, len(got), 100)
		seen += len(got)
		pages++
		if r.NextPage == 0 {
			break
		}
		require.Equal(t, 30, r.LastPage)
		o.Page = r.NextPage
	}
	require.Equal(t, 30, pages)
	require.Equal(t, 3000, seen, "GitHub lists no more")
	p, _, err := c.PullRequests.Get(t.Context(), "octo", "demo", 1)
	require.NoError(t, err)
	require.Equal(t, 3001, p.GetChangedFiles())
	many := githubtest.Tree{}
	for i := range 301 {
		many[fmt.Sprintf("many/%d.go", i)] = "package many\n"
	}
	w.repo.Commit("main", "many", w.repo.Tree("main").With(many))
	_, r, _ := c.Repositories.CompareCommitsRaw(t.Context(), "octo", "demo", w.pull.BaseSHA(), "main",
		github.RawOptions{Type: github.Diff})
	require.Equal(t, http.StatusNotAcceptable, status(r))
}

func TestContentsAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubtest.Options{PatchLines: 3})
	big := strings.Repeat("b", 60)
	head := w.pull.Push(w.pull.Tree().With(githubtest.Tree{"big": big, "dir/a..b.go": "x"}))
	at := func(path, accept string) (int, string) {
		return fetch(t, w.URL+"/repos/octo/demo/contents/"+path+"?ref="+head, "Authorization", "Bearer "+w.read,
			"Accept", accept)
	}
	code, text := at("dir/a..b.go", "application/vnd.github.raw+json")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "x", text)
	code, text = at("dir", "")
	require.Equal(t, http.StatusOK, code)
	require.True(t, strings.HasPrefix(text, "["))
	code, text = at("big", "application/vnd.github.raw")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, big, text)
	code, _ = at("missing", "")
	require.Equal(t, http.StatusNotFound, code)

	files := w.pull.Files()
	require.Equal(t, "a.go", files[0].Path)
	require.Equal(t, 4, files[0].Additions+files[0].Deletions)
	require.Empty(t, files[0].Patch, "too many changed lines for a patch")
}

func TestHistoryOfAFork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fork := w.AddRepo("eve/demo", githubtest.RepoOptions{ForkOf: w.repo})
	start := w.repo.Head("main")
	p := w.repo.AddPull(githubtest.PullOptions{Author: "eve", From: fork, Head: "feat/x",
		HeadFiles: w.repo.Tree("main").With(githubtest.Tree{"a.go": after})})
	c := w.client(t, w.read)
	get := func() *github.PullRequest {
		got, _, err := c.PullRequests.Get(t.Context(), "octo", "demo", p.Number)
		require.NoError(t, err)
		return got
	}
	require.Equal(t, fork.ID, get().GetHead().GetRepo().GetID())
	require.Equal(t, "NONE", get().GetAuthorAssociation())

	w.repo.Commit("main", "moved on", w.repo.Tree("main").With(githubtest.Tree{"z.go": "package a\n"}))
	cmp, _, err := c.Repositories.CompareCommits(t.Context(), "octo", "demo", "main", p.HeadSHA(), nil)
	require.NoError(t, err)
	require.Equal(t, start, cmp.GetMergeBaseCommit().GetSHA())
	require.Equal(t, "diverged", cmp.GetStatus())
	old := p.Files()
	head := p.MergeBase()
	require.Equal(t, old, p.Files(), "the change stays the same")
	require.Equal(t, head, get().GetHead().GetSHA())
	require.Equal(t, head, fork.Head("feat/x"))
	commits, _, err := c.PullRequests.ListCommits(t.Context(), "octo", "demo", p.Number, nil)
	require.NoError(t, err)
	require.Len(t, commits, 2)
	listed, _, err := c.PullRequests.List(t.Context(), "octo", "demo",
		&github.PullRequestListOptions{Head: "eve:feat/x"})
	require.NoError(t, err)
	require.Len(t, listed, 1)

	p.DeleteFork()
	require.Nil(t, get().GetHead().Repo)
	p.Merge()
	require.True(t, get().GetMerged())
}

func TestLabelsAndTheirEvents(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := newWorld(t, githubtest.Options{Now: func() time.Time { return now }})
	w.Advance(time.Minute)
	w.pull.Label("maya", "ai-review")
	w.Advance(time.Minute)
	head := w.pull.ForcePush(githubtest.Tree{"a.go": after})
	c := w.client(t, w.read)
	events, _, err := c.Issues.ListIssueEvents(t.Context(), "octo", "demo", 1, nil)
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, "labeled", events[0].GetEvent())
	require.Equal(t, "maya", events[0].GetActor().GetLogin())
	require.Equal(t, "ai-review", events[0].GetLabel().GetName())
	require.Equal(t, now.Add(time.Minute), events[0].GetCreatedAt().Time)
	require.Equal(t, head, events[1].GetCommitID())
	p, _, err := c.PullRequests.Get(t.Context(), "octo", "demo", 1)
	require.NoError(t, err)
	require.Equal(t, "ai-review", p.Labels[0].GetName())
}

func TestHoldsRequestsAgainstTheDescription(t *testing.T) {
	t.Parallel()
	s, err := githubtest.Start(githubtest.Options{})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	repo := s.AddRepo("octo/demo", githubtest.RepoOptions{})
	repo.AddPull(githubtest.PullOptions{})
	token := s.AppToken(repo, map[string]string{"pull_requests": "write"})
	for i, body := range []string{`{"event":"SHOUT","body":"x"}`,
		`{"event":"COMMENT","body":"x","comments":[{"body":"no path"}]}`, `{"body":7}`} {
		r, err := http.NewRequest(http.MethodPost, s.URL+"/repos/octo/demo/pulls/1/reviews", strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "token "+token)
		r.Header.Set("Content-Type", "application/json")
		code, _ := send(t, r)
		require.Equal(t, http.StatusUnprocessableEntity, code, body)
		require.Len(t, s.Violations(), i+1, body)
	}
}

func TestServesAsAnEnterpriseDoes(t *testing.T) {
	t.Parallel()
	answer, err := http.Get(newWorld(t).URL + "/api/v3/repos/octo/demo")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

func TestPendingReviewsAreTheirAuthors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pending := review(4)
	pending.Event = nil
	maya := w.client(t, w.UserToken("maya"))
	for _, want := range []int{http.StatusOK, http.StatusUnprocessableEntity} {
		_, r, _ := maya.PullRequests.CreateReview(t.Context(), "octo", "demo", 1, pending)
		require.Equal(t, want, status(r))
	}
	_, r, _ := maya.PullRequests.CreateReview(t.Context(), "octo", "demo", 1, review(4))
	require.Equal(t, http.StatusUnprocessableEntity, status(r), "one that is posted at once is a second one too")
	seen := func(c *github.Client) []*github.PullRequestReview {
		got, _, err := c.PullRequests.ListReviews(t.Context(), "octo", "demo", 1, nil)
		require.NoError(t, err)
		return got
	}
	other := w.client(t, w.write)
	require.Empty(t, seen(other))
	require.Len(t, seen(maya), 1)
	id := seen(maya)[0].GetID()
	require.Nil(t, seen(maya)[0].SubmittedAt)
	comment := &github.PullRequestReviewRequest{Event: github.String("COMMENT"), Body: github.String("out")}
	for _, want := range []struct {
		by   *github.Client
		code int
	}{{other, http.StatusNotFound}, {maya, http.StatusOK}, {maya, http.StatusUnprocessableEntity}} {
		_, r, _ := want.by.PullRequests.SubmitReview(t.Context(), "octo", "demo", 1, id, comment)
		require.Equal(t, want.code, status(r))
	}
	require.Equal(t, "out", seen(other)[0].GetBody())
	require.NotNil(t, seen(other)[0].SubmittedAt)
	_, r, _ = maya.PullRequests.DeletePendingReview(t.Context(), "octo", "demo", 1, id)
	require.Equal(t, http.StatusUnprocessableEntity, status(r), "a submitted review stays")
	second, _, err := maya.PullRequests.CreateReview(t.Context(), "octo", "demo", 1, pending)
	require.NoError(t, err)
	_, r, _ = maya.PullRequests.DeletePendingReview(t.Context(), "octo", "demo", 1, second.GetID())
	require.Equal(t, http.StatusOK, status(r))
	require.Len(t, seen(maya), 1)
}
