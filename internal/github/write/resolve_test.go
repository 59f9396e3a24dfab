package write_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

func TestAThreadIsResolvedByWhoMay(t *testing.T) {
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	made := repo.AddPull(githubtest.PullOptions{HeadFiles: githubtest.Tree{"a.go": "one\ntwo\n"}})
	made.AddReview("maya", "", githubtest.Comment{Path: "a.go", Line: 1, Body: "theirs"})
	repo.Permit("rita", "write")
	client := func(token string) *github.Client {
		hc := transport.New(transport.Options{})
		t.Cleanup(hc.CloseIdleConnections)
		c, err := github.New(github.Options{APIURL: s.URL, Token: token, HTTP: hc})
		require.NoError(t, err)
		return c
	}
	job := func(contents string) *github.Client {
		return client(s.AppToken(repo, map[string]string{"contents": contents, "pull-requests": "write"}))
	}
	ref := pull.Ref{Owner: "o", Repo: "r", Number: made.Number}
	writer := write.New(job("read"))
	id, _, err := writer.CreatePending(t.Context(), ref, made.HeadSHA(), "b",
		[]write.Comment{{Path: "a.go", Side: "RIGHT", Line: 2, Body: "ours"}})
	require.NoError(t, err)
	_, err = writer.Submit(t.Context(), ref, id, "b")
	require.NoError(t, err)

	threads, err := job("read").Threads(t.Context(), ref)
	require.NoError(t, err)
	require.Len(t, threads, 2)
	require.Equal(t, []bool{false, true}, []bool{threads[0].Own, threads[1].Own})
	require.Equal(t, made.Reviews()[1].Comments[0].ID, threads[1].Comment)
	err = write.New(job("read")).ResolveThread(t.Context(), threads[1].ID)
	require.ErrorIs(t, err, write.ErrMayNotResolve)
	require.NoError(t, write.New(job("write")).ResolveThread(t.Context(), threads[1].ID))
	require.NoError(t, write.New(client(s.UserToken("rita"))).ResolveThread(t.Context(), threads[1].ID), "again")
	threads, err = job("read").Threads(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, []bool{false, true}, []bool{threads[0].Resolved, threads[1].Resolved})
	require.ErrorIs(t, write.New(job("write")).ResolveThread(t.Context(), "PRRT_0"), github.ErrNotFound)
	s.Fail("POST", "/graphql", githubtest.Fault{Status: 502})
	require.Error(t, write.New(job("write")).ResolveThread(t.Context(), threads[0].ID))
}
