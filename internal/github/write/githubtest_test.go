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

	_, _, err := reading.CreateReview(t.Context(), ref, made.HeadSHA(), "body", nil)
	require.ErrorIs(t, err, write.ErrNoPermission)
	_, _, err = writing.CreateReview(t.Context(), ref, made.HeadSHA(), "body", []write.Comment{on, off})
	require.ErrorIs(t, err, write.ErrRefused)
	require.Empty(t, made.Reviews())

	id, url, err := writing.CreateReview(t.Context(), ref, made.HeadSHA(), "body", []write.Comment{on})
	require.NoError(t, err)
	posted, err := reader.Reviews(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, []github.Review{{ID: id, Body: "body", User: "github-actions[bot]", UserType: "Bot",
		CommitID: made.HeadSHA(), State: "COMMENTED", URL: url}}, posted)
	require.Len(t, made.Reviews()[0].Comments, 1)

	s.Fail("POST", "**", githubtest.Fault{DropConnection: true, AfterWrite: true, Times: 1})
	_, _, err = writing.CreateReview(t.Context(), ref, made.HeadSHA(), "second", nil)
	require.ErrorIs(t, err, write.ErrUnknown)
	require.Len(t, made.Reviews(), 2, "the answer alone was lost, and it was not sent again")
}
