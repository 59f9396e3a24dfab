package github_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
)

func checksReader(s *githubtest.Server, r *githubtest.Repo) string {
	return s.AppToken(r, map[string]string{"checks": "read", "statuses": "read"})
}

func TestChecksAreReadWithTheirAnnotations(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	sha := repo.Head("main")
	repo.AddCheck(sha, githubtest.Check{Name: "build", Conclusion: "failure"})
	repo.AddCheck(sha, githubtest.Check{Name: "build", Conclusion: "success"})
	repo.AddCheck(sha, githubtest.Check{Name: "lint", App: "L", Conclusion: "timed_out", Title: "late", Summary: "s",
		Annotations: []githubtest.Annotation{{Path: "a.go", Start: 3, End: 4, Level: "failure", Title: "t",
			Message: "m"}}})
	repo.AddCheck(sha, githubtest.Check{Name: "slow", Status: "in_progress"})
	repo.AddStatus(sha, githubtest.Status{Context: "ci/x", State: "error", Description: "down"})
	c := connect(t, s, checksReader(s, repo))

	checks, more, err := c.Checks(t.Context(), "o", "r", sha)
	require.NoError(t, err)
	require.False(t, more)
	require.Len(t, checks, 3)
	require.Equal(t, []string{"in_progress", ""}, []string{checks[0].Status, checks[0].Conclusion})
	lint := checks[1]
	require.Equal(t, github.Check{ID: lint.ID, Name: "lint", App: "L", Status: "completed", Conclusion: "timed_out",
		Title: "late", Summary: "s", Annotations: 1}, lint)
	require.Equal(t, []bool{false, true, false}, []bool{checks[0].Failed(), lint.Failed(), checks[2].Failed()})

	notes, more, err := c.Annotations(t.Context(), "o", "r", lint.ID)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, []github.Annotation{{Path: "a.go", StartLine: 3, Level: "failure", Title: "t", Message: "m"}}, notes)
	statuses, more, err := c.CommitStatuses(t.Context(), "o", "r", sha)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, []github.CommitStatus{{Context: "ci/x", State: "error", Description: "down"}}, statuses)
}

func TestT31_ChecksAreReadUpToABound(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	sha := repo.Head("main")
	for i := range 301 {
		repo.AddCheck(sha, githubtest.Check{Name: fmt.Sprint(i), Conclusion: "success",
			Annotations: make([]githubtest.Annotation, i%2*101)})
	}
	c := connect(t, s, checksReader(s, repo))
	checks, more, err := c.Checks(t.Context(), "o", "r", sha)
	require.NoError(t, err)
	require.True(t, more)
	require.Len(t, checks, 300)
	require.Len(t, s.Requests(), github.CheckPages)
	notes, more, err := c.Annotations(t.Context(), "o", "r", checks[1].ID)
	require.NoError(t, err)
	require.True(t, more)
	require.Len(t, notes, 100)
}

func TestATokenWithoutChecksHasNoAccess(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	c := connect(t, s, reader(s, repo))
	_, _, err := c.Checks(t.Context(), "o", "r", repo.Head("main"))
	require.ErrorIs(t, err, github.ErrNoAccess)
	_, _, err = c.CommitStatuses(t.Context(), "o", "r", repo.Head("main"))
	require.ErrorIs(t, err, github.ErrNoAccess)
	_, _, err = connect(t, s, checksReader(s, repo)).Annotations(t.Context(), "o", "r", 1)
	require.ErrorIs(t, err, github.ErrNotFound)
}
