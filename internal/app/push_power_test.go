package app_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// allowed are the requests by which the product may change something on GitHub.
var allowed = regexp.MustCompile(`^POST /repos/octo/demo/(?:pulls/42/reviews(?:/[0-9]+/events)?|check-runs` +
	`|statuses/[0-9a-f]{40})$|^POST /(?:api/)?graphql$|^DELETE` +
	` /repos/octo/demo/pulls/42/reviews/[0-9]+$`)

// overreach lists the requests that do what no job of ours may: approve, merge,
// or write a label, a branch or anything else.
func overreach(all []githubtest.Request) (bad []string) {
	for _, r := range all {
		if r.Host != "api" || r.Method == "GET" || r.Method == "HEAD" || strings.HasPrefix(r.Path, "/twirp/") {
			continue
		}
		what, body := r.Method+" "+r.Path, string(r.Body)
		review, submits := strings.HasSuffix(r.Path, "/reviews"), strings.HasSuffix(r.Path, "/events")
		query := strings.HasSuffix(r.Path, "/graphql")
		mutates := query && strings.Contains(body, "mutation") && !strings.Contains(body, "resolveReviewThread(")
		if !allowed.MatchString(what) || mutates || review && strings.Contains(body, `"event"`) || submits &&
			!strings.Contains(body, `"event":"COMMENT"`) || strings.Contains(body, `"APPROVE"`) {
			bad = append(bad, what)
		}
	}
	return bad
}

func TestT32_WhatIsWrittenIsReviewsChecksAndStatusesAlone(t *testing.T) {
	t.Parallel()
	const reviews = "/repos/octo/demo/pulls/42/reviews"
	for _, r := range []githubtest.Request{
		{Method: "POST", Path: reviews, Body: []byte(`{"event":"APPROVE","body":""}`)},
		{Method: "POST", Path: reviews, Body: []byte(`{"event":"COMMENT","body":""}`)},
		{Method: "POST", Path: reviews + "/7/events", Body: []byte(`{"event":"APPROVE","body":""}`)},
		{Method: "POST", Path: reviews + "/7/events", Body: []byte(`{"body":""}`)},
		{Method: "DELETE", Path: "/repos/octo/demo/pulls/comments/7"},
		{Method: "PUT", Path: "/repos/octo/demo/pulls/42/merge"},
		{Method: "POST", Path: "/repos/octo/demo/issues/42/labels"},
		{Method: "DELETE", Path: "/repos/octo/demo/issues/42/labels/ai-review"},
		{Method: "PATCH", Path: "/repos/octo/demo/git/refs/heads/main"},
		{Method: "PUT", Path: "/repos/octo/demo/contents/a.go"},
		{Method: "POST", Path: "/graphql", Body: []byte(`{"query":"mutation{mergePullRequest(input:{})}"}`)},
	} {
		r.Host = "api"
		require.Len(t, overreach([]githubtest.Request{r}), 1, "%s %s is not seen", r.Method, r.Path)
	}
	for _, r := range []githubtest.Request{
		{Method: "POST", Path: reviews, Body: []byte(`{"body":""}`)},
		{Method: "POST", Path: reviews + "/7/events", Body: []byte(`{"event":"COMMENT","body":""}`)},
		{Method: "DELETE", Path: reviews + "/7"},
		{Method: "GET", Path: "/repos/octo/demo/pulls/42/merge"},
		{Method: "POST", Path: "/graphql", Body: []byte(`{"query":"query{repository}"}`)},
	} {
		r.Host = "api"
		require.Empty(t, overreach([]githubtest.Request{r}))
	}
}
