package write_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

func TestP7_AReviewStandsWholeOrNotAtAll(t *testing.T) {
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	made := repo.AddPull(githubtest.PullOptions{
		BaseFiles: githubtest.Tree{"a.go": "one\ntwo\n"}, HeadFiles: githubtest.Tree{"a.go": "one\ntwo\nthree\nfour\n"},
	})
	ref := pull.Ref{Owner: "o", Repo: "r", Number: made.Number}
	client := func(right string) (*github.Client, *write.Client) {
		token := s.AppToken(repo, map[string]string{"contents": "read", "pull-requests": right})
		hc := transport.New(transport.Options{})
		t.Cleanup(hc.CloseIdleConnections)
		c, err := github.New(github.Options{APIURL: s.URL, Token: token, HTTP: hc})
		require.NoError(t, err)
		return c, write.New(c)
	}
	reader, reading := client("read")
	_, writing := client("write")
	on := write.Comment{Path: "a.go", Side: "RIGHT", StartLine: 3, Line: 4, Body: "here"}
	off := write.Comment{Path: "a.go", Side: "RIGHT", Line: 99, Body: "nowhere"}

	_, _, err := reading.CreatePending(t.Context(), ref, made.HeadSHA(), "body", nil)
	require.ErrorIs(t, err, write.ErrNoPermission)
	_, _, err = writing.CreatePending(t.Context(), ref, made.HeadSHA(), "body", []write.Comment{on, off})
	require.ErrorIs(t, err, write.ErrRefused)
	require.Empty(t, made.Reviews())

	id, url, err := writing.CreatePending(t.Context(), ref, made.HeadSHA(), "body", []write.Comment{on})
	require.NoError(t, err)
	listed := func(state string) {
		t.Helper()
		found, err := reader.Reviews(t.Context(), ref)
		require.NoError(t, err)
		require.Len(t, found, 1)
		found[0].At = time.Time{}
		require.Equal(t, []github.Review{{ID: id, Body: "body", User: "github-actions[bot]", UserType: "Bot",
			CommitID: made.HeadSHA(), State: state, URL: url}}, found)
	}
	listed("PENDING")
	comments, err := reader.CommentsOf(t.Context(), ref, id)
	require.NoError(t, err)
	require.Len(t, comments, 1)
	_, _, err = writing.CreatePending(t.Context(), ref, made.HeadSHA(), "second", []write.Comment{off})
	require.ErrorIs(t, err, write.ErrPending, "told from a comment off the diff")
	require.NotErrorIs(t, err, write.ErrRefused)
	submitted, err := writing.Submit(t.Context(), ref, id, "body")
	require.NoError(t, err)
	require.Equal(t, url, submitted)
	listed("COMMENTED")
	_, err = writing.Submit(t.Context(), ref, id, "body")
	require.ErrorIs(t, err, write.ErrGone)
	require.ErrorIs(t, writing.DeletePending(t.Context(), ref, id), write.ErrGone, "what was submitted stays")

	s.Fail("POST", "**", githubtest.Fault{DropConnection: true, AfterWrite: true, Times: 1})
	_, _, err = writing.CreatePending(t.Context(), ref, made.HeadSHA(), "second", nil)
	require.ErrorIs(t, err, write.ErrUnknown)
	require.Len(t, made.Reviews(), 2, "the answer alone was lost, and it was not sent again")
	second := made.Reviews()[1].ID
	require.NoError(t, writing.DeletePending(t.Context(), ref, second))
	require.ErrorIs(t, writing.DeletePending(t.Context(), ref, second), write.ErrGone)
	require.Len(t, made.Reviews(), 1)
}

// TestP5_AWriteThatIsOutComesBack stops the process while GitHub takes its time.
func TestP5_AWriteThatIsOutComesBack(t *testing.T) {
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	made := repo.AddPull(githubtest.PullOptions{})
	hc := transport.New(transport.Options{})
	t.Cleanup(hc.CloseIdleConnections)
	c, err := github.New(github.Options{APIURL: s.URL,
		Token: s.AppToken(repo, map[string]string{"pull-requests": "write"}), HTTP: hc})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	s.OnRequest(func(_ int, _ *http.Request, phase string) {
		if phase == "before" {
			stop()
		}
	})
	at := pull.Ref{Owner: "o", Repo: "r", Number: made.Number}
	id, _, err := write.New(c).CreatePending(ctx, at, made.HeadSHA(), "body", nil)
	require.NoError(t, err)
	require.Equal(t, made.Reviews()[0].ID, id)
	_, err = write.New(c).Submit(ctx, at, id, "body")
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, write.ErrUnknown, "nothing more is sent")
	require.Equal(t, "PENDING", made.Reviews()[0].State)
}
