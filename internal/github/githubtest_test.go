package github_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

func connect(t *testing.T, s *githubtest.Server, token string) *github.Client {
	t.Helper()
	hc := transport.New(transport.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	t.Cleanup(hc.CloseIdleConnections)
	c, err := github.New(github.Options{APIURL: s.URL, Token: token, HTTP: hc})
	require.NoError(t, err)
	return c
}

func reader(s *githubtest.Server, r *githubtest.Repo) string {
	return s.AppToken(r, map[string]string{"contents": "read", "pull-requests": "read", "actions": "read"})
}

func TestAPullRequestIsReadWhole(t *testing.T) {
	s := githubtest.New(t)
	base := githubtest.Tree{"README.md": "# r\n", "a..b/x y.go": "package x\n", "old.txt": "bye\n",
		".gitattributes": ""}
	repo := s.AddRepo("o/r", githubtest.RepoOptions{Files: base, Protected: []string{"main"}})
	fork := s.AddRepo("f/r", githubtest.RepoOptions{ForkOf: repo})
	made := repo.AddPull(githubtest.PullOptions{Title: "T", Author: "eve", From: fork,
		HeadFiles: base.With(githubtest.Tree{"a..b/x y.go": "package y\n",
			"new.go": "package n\n"}).Without("old.txt")})
	c := connect(t, s, reader(s, repo))
	ctx := t.Context()

	p, err := c.Pull(ctx, pull.Ref{Host: "github.com", Owner: "o", Repo: "r", Number: made.Number})
	require.NoError(t, err)
	require.True(t, p.Open() && p.Fork())
	require.Equal(t, []string{made.HeadSHA(), made.BaseSHA(), "main", "f/r", "eve"},
		[]string{p.HeadSHA, p.BaseSHA, p.DefaultBranch, p.HeadRepo, p.Author})

	files, complete, err := c.Files(ctx, p)
	require.NoError(t, err)
	require.True(t, complete)
	require.Len(t, files, 3)
	require.Equal(t, diff.Modified, files[0].Status)
	require.Contains(t, files[0].Patch, "-package x\n+package y")

	mergeBase, err := c.MergeBase(ctx, p)
	require.NoError(t, err)
	require.Equal(t, made.BaseSHA(), mergeBase)
	text, err := c.Content(ctx, "o", "r", "a..b/x y.go", p.HeadSHA, 100)
	require.NoError(t, err)
	require.Equal(t, "package y\n", string(text))
	text, err = c.Content(ctx, "o", "r", ".gitattributes", "main", 100)
	require.NoError(t, err)
	require.Empty(t, text)
	_, err = c.Content(ctx, "o", "r", "none", p.HeadSHA, 100)
	require.ErrorIs(t, err, github.ErrNotFound)
	protected, err := c.Protected(ctx, "o", "r", "main")
	require.NoError(t, err)
	require.True(t, protected)
}

func TestT39_ACommitIsOnABranchByItsHash(t *testing.T) {
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	first := repo.Head("main")
	repo.Commit("main", "second", githubtest.Tree{"a": "1\n"})
	topic := repo.Commit("topic", "its own", githubtest.Tree{"a": "2\n"})
	c := connect(t, s, reader(s, repo))
	for sha, want := range map[string]bool{repo.Head("main"): true, first: true, topic: false,
		strings.Repeat("a", 40): false, "": false} {
		on, err := c.OnBranch(t.Context(), "o", "r", "main", sha)
		require.NoError(t, err)
		require.Equal(t, want, on, sha)
	}
	c = connect(t, s, s.AppToken(repo, map[string]string{"actions": "read"}))
	_, err := c.OnBranch(t.Context(), "o", "r", "main", first)
	require.ErrorIs(t, err, github.ErrNoAccess)
}

func TestT19_AnArtifactCarriesItsOrigin(t *testing.T) {
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	fork := s.AddRepo("f/r", githubtest.RepoOptions{ForkOf: repo})
	own, foreign := repo.AddRun(githubtest.RunOptions{}),
		repo.AddRun(githubtest.RunOptions{HeadRepo: fork, Event: "pull_request"})
	own.AddArtifact("n", []byte("own"))
	own.AddArtifact("n2", []byte("x"))
	planted := foreign.AddArtifact("n", []byte("planted"))
	c := connect(t, s, reader(s, repo))
	ctx := t.Context()

	all, _, err := c.Artifacts(ctx, "o", "r", github.Artifacts{Name: "n"})
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, planted.ID, all[0].ID, "the newest first, whoever made it")
	list, _, err := c.Artifacts(ctx, "o", "r", github.Artifacts{Run: own.ID, Name: "n"})
	require.NoError(t, err)
	require.Len(t, list, 1)
	zip, err := c.Download(ctx, "o", "r", list[0].ID, 3)
	require.NoError(t, err)
	require.Equal(t, "own", string(zip))
	_, err = c.Download(ctx, "o", "r", list[0].ID, 2)
	require.ErrorIs(t, err, github.ErrTooLarge)
	planted.Expire()
	_, err = c.Download(ctx, "o", "r", planted.ID, 100)
	require.ErrorIs(t, err, github.ErrExpired)

	run, err := c.Run(ctx, "o", "r", foreign.ID)
	require.NoError(t, err)
	require.Equal(t, "pull_request", run.Event)
	require.NotEqual(t, run.RepoID, run.HeadRepoID)
}

func TestCheck12_WhoMayDecideIsReadFromTheAPI(t *testing.T) {
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	repo.Permit("w", "write")
	repo.AddEnvironment("ai-review", "w", "v")
	repo.AddEnvironment("bare")
	run := repo.AddRun(githubtest.RunOptions{})
	run.Wait("ai-review")
	run.Approve("ai-review", "w", "/approve")
	c := connect(t, s, reader(s, repo))
	ctx := t.Context()

	level, err := c.Permission(ctx, "o", "r", "w")
	require.NoError(t, err)
	require.Equal(t, "write", level)
	e, err := c.Environment(ctx, "o", "r", "ai-review")
	require.NoError(t, err)
	require.Equal(t, 2, e.Reviewers)
	e, err = c.Environment(ctx, "o", "r", "bare")
	require.NoError(t, err)
	require.Zero(t, e.Reviewers)
	_, err = c.Environment(ctx, "o", "r", "none")
	require.ErrorIs(t, err, github.ErrNotFound)
	approvals, err := c.Approvals(ctx, "o", "r", run.ID)
	require.NoError(t, err)
	require.Equal(t, []github.Approval{{Environments: []string{"ai-review"}, State: "approved", User: "w",
		Comment: "/approve"}}, approvals)
}

func TestALimitedTokenIsNotATokenWithoutAccess(t *testing.T) {
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	token := reader(s, repo)
	c := connect(t, s, token)
	s.Fail("GET", "**", githubtest.SecondaryLimit(http.StatusForbidden, 3*time.Second))
	_, err := c.Protected(t.Context(), "o", "r", "main")
	var status *transport.StatusError
	require.ErrorAs(t, err, &status)
	require.True(t, status.Limited)
	require.NotErrorIs(t, err, github.ErrNoAccess)
	s.ClearFaults()
	s.Revoke(token)
	_, err = c.Protected(t.Context(), "o", "r", "main")
	require.ErrorIs(t, err, github.ErrNoAccess)
}

func TestP6_FilesThatAPageHasNoRoomForAreReadAgain(t *testing.T) {
	large := githubtest.File{Path: "large.go", SHA: "1a", Status: "added", Additions: 20_000,
		Patch: "@@ -0,0 +1,20000 @@" + strings.Repeat("\n+x", 20_000)}
	small := func(status, path string) githubtest.File {
		f := githubtest.File{Path: path, SHA: "2b", Status: status, Additions: 1, Deletions: 1,
			Patch: "@@ -1 +1 @@\n-a\n+b"}
		if status == "renamed" {
			f.OldPath = "old/" + path
		}
		return f
	}
	logo := githubtest.File{Path: "logo.png", SHA: "3c", Status: "added"}
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	made := repo.AddPull(githubtest.PullOptions{HeadFiles: repo.Tree("main").With(githubtest.Tree{"a": "1\n"})})
	c := connect(t, s, reader(s, repo))
	read := func(files ...githubtest.File) []diff.File {
		made.SetFiles(files)
		p, err := c.Pull(t.Context(), pull.Ref{Host: "github.com", Owner: "o", Repo: "r", Number: made.Number})
		require.NoError(t, err)
		list, complete, err := c.Files(t.Context(), p)
		require.NoError(t, err)
		require.True(t, complete)
		require.Len(t, list, len(files))
		return list
	}
	got := read(small("modified", "before.go"), large, small("modified", "m.go"), small("renamed", "r.go"), logo)
	for _, f := range got[:4] {
		require.NotEmpty(t, f.Patch, f.Path)
	}
	require.True(t, got[4].Binary)

	p, err := c.Pull(t.Context(), pull.Ref{Host: "github.com", Owner: "o", Repo: "r", Number: made.Number})
	require.NoError(t, err)
	p.ChangedFiles++
	asked := len(s.Requests())
	_, complete, err := c.Files(t.Context(), p)
	require.NoError(t, err)
	require.False(t, complete)
	require.Len(t, s.Requests(), asked+1, "a list that lacks files lacks lines, too")

	var many []githubtest.File
	for len(many) < 300 {
		many = append(many, large, small("modified", "m.go"), small("renamed", "r.go"))
	}
	before, rest := len(s.Requests()), 0
	for _, f := range read(many...) {
		require.False(t, f.Binary, "no picture: nothing was read of it")
		require.Equal(t, f.Patch == "", f.Problem != "", f.Path)
		if f.Problem != "" {
			rest++
		}
	}
	require.Positive(t, rest)
	require.Less(t, len(s.Requests())-before, 110, "a job has a thousand requests an hour")
}
