package github_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

func TestA403NamesThePermissionThatGitHubNames(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"pull_requests=write":               "permissions: { pull-requests: write }",
		"contents=read,pull_requests=write": "permissions: { contents: read, pull-requests: write }",
		"issues=write; pull_requests=write": "permissions: { issues: write }",
		"":                                  "the job's permissions",
		"::error::x=write, \x1b[31m=read, contents=root": "the job's permissions",
	} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			resp := httptest.NewRecorder().Result()
			resp.StatusCode, resp.Request = http.StatusForbidden, httptest.NewRequest(http.MethodGet, "/x", nil)
			resp.Header.Set("X-Accepted-GitHub-Permissions", header)
			err := github.Wrap("posting the review", transport.Status(resp))
			require.ErrorIs(t, err, github.ErrNoAccess)
			require.Contains(t, problem.Of(err).Error(), want)
			require.NotContains(t, problem.Of(err).Error(), "root")
		})
	}
}
