package github_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/pull"
)

func TestADiscussionIsReadByPage(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	made := repo.AddPull(githubtest.PullOptions{Author: "eve", HeadFiles: githubtest.Tree{"a": "1\n"}})
	for i := range 21 {
		made.Comment("lee", fmt.Sprint(i))
	}
	review := made.AddReview("ci[bot]", "body", githubtest.Comment{Path: "a", Line: 1, Body: "inline"})
	repo.AddIssue(7, "maya", "Broken", "It breaks.")
	c := connect(t, s, s.AppToken(repo, map[string]string{"pull-requests": "read", "issues": "read"}))
	ref := pull.Ref{Owner: "o", Repo: "r", Number: made.Number}

	first, more, err := c.Comments(t.Context(), ref, 1)
	require.NoError(t, err)
	require.True(t, more)
	require.Len(t, first, github.RemarkPage)
	require.Equal(t, []string{"0", "lee"}, []string{first[0].Body, first[0].User})
	last, more, err := c.Comments(t.Context(), ref, 2)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, "20", last[0].Body)

	commits, more, err := c.Commits(t.Context(), ref, 1)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, []string{"Change 1", "eve", made.HeadSHA()},
		[]string{commits[0].Body, commits[0].User, commits[0].SHA})
	reviews, _, err := c.ReviewPage(t.Context(), ref, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"body", "COMMENTED"}, []string{reviews[0].Body, reviews[0].State})
	require.WithinDuration(t, review.At, reviews[0].At, 0)
	comments, _, err := c.ReviewCommentPage(t.Context(), ref, 1)
	require.NoError(t, err)
	require.Equal(t, []any{"inline", "a", 1}, []any{comments[0].Body, comments[0].Path, comments[0].Line})
	issue, err := c.Issue(t.Context(), "o", "r", 7)
	require.NoError(t, err)
	require.Equal(t, []string{"Broken", "It breaks.", "maya", "open"},
		[]string{issue.Title, issue.Body, issue.User, issue.State})
	_, err = c.Issue(t.Context(), "o", "r", 8)
	require.ErrorIs(t, err, github.ErrNotFound)
}

func TestT19_AnIssueThatMovedElsewhereIsNotRead(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	s.Fail("GET", "/repos/o/r/issues/7", githubtest.Fault{
		Status: http.StatusOK, Headers: map[string]string{"Content-Type": "application/json"},
		Body: `{"number":7,"title":"private","url":"https://api.github.com/repos/o/private/issues/7"}`,
	})
	c := connect(t, s, reader(s, repo))
	_, err := c.Issue(t.Context(), "o", "r", 7)
	require.ErrorIs(t, err, github.ErrNotFound)

	s.ClearFaults()
	s.Fail("GET", "/repos/o/r/issues/7", githubtest.Fault{
		Status: http.StatusOK, Headers: map[string]string{"Content-Type": "application/json"},
		Body: `{"number":7,"title":"of a server that leaves the address out"}`,
	})
	_, err = c.Issue(t.Context(), "o", "r", 7)
	require.NoError(t, err)
}
