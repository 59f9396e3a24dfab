package github

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThreadsAreReadPageByPage(t *testing.T) {
	pages := 0
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Query     string
			Variables map[string]any
		}
		require.NoError(t, json.NewDecoder(r.Body).Decode(&q))
		require.Equal(t, "POST /graphql", r.Method+" "+r.URL.Path)
		require.True(t, strings.HasPrefix(q.Query, "query("), "nothing is written")
		require.Equal(t, map[string]any{"owner": "o", "name": "r", "number": 7.0, "after": []any{nil, "c1"}[pages]},
			q.Variables)
		pages++
		fmt.Fprintf(w, `{"data":{"repository":{"pullRequest":{"reviewThreads":{"pageInfo":{"hasNextPage":%t,
			"endCursor":"c%d"},"nodes":[
			{"id":"T%d","isResolved":%t,"comments":{"totalCount":%d,"nodes":[{"fullDatabaseId":"300000000%d",
			"viewerDidAuthor":true}]}},
			{"id":"none","isResolved":false,"comments":{"totalCount":0,"nodes":[]}},
			{"id":"odd","isResolved":false,"comments":{"totalCount":1,
			"nodes":[{"fullDatabaseId":"x"}]}}]}}}}}`, pages < 2, pages, pages, pages == 2, pages, pages)
	})
	threads, err := c.Threads(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, []ReviewThread{
		{ID: "T1", Comment: 3000000001, Own: true},
		{ID: "T2", Comment: 3000000002, Own: true, Resolved: true, Answers: 1},
	}, threads)
}

func TestAThreadsCommentIsNamedByTextOrNumber(t *testing.T) {
	for _, id := range []string{`"6000000001"`, `6000000001`} {
		t.Run(id, func(t *testing.T) {
			c := serve(t, fixed(200, "application/json", `{"data":{"repository":{"pullRequest":{"reviewThreads":{
				"pageInfo":{"hasNextPage":false,"endCursor":null},"nodes":[{"id":"T","resolvedBy":null,"comments":{
				"totalCount":1,"nodes":[{"fullDatabaseId":`+id+`}]}},
				{"id":"gone","comments":{"totalCount":1,"nodes":[{"fullDatabaseId":null}]}}]}}}}}`))
			threads, err := c.Threads(t.Context(), ref)
			require.NoError(t, err)
			require.Equal(t, []ReviewThread{{ID: "T", Comment: 6000000001}}, threads)
		})
	}
}

func TestThreadsThatCannotBeReadAreAnError(t *testing.T) {
	for answer, want := range map[string]error{
		`{"data":null,"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`: ErrNoAccess,
		`{"data":{"repository":null},"errors":[{"type":"NOT_FOUND","message":"Could not resolve"}]}`:       ErrNotFound,
		`{"data":{"repository":null}}`:                                  ErrNotFound,
		`{"data":{"repository":{"pullRequest":null}}}`:                  ErrNotFound,
		`{"errors":[{"message":"Field 'x' doesn't exist\n::error::"}]}`: nil,
		`{}`: nil,
		`[]`: nil,
		`{"data":{"repository":{"pullRequest":{"reviewThreads":{"pageInfo":{"hasNextPage":true` +
			`,"endCursor":"same"}}}}}}`: ErrTooLarge,
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, answer) })
		_, err := c.Threads(t.Context(), ref)
		require.Error(t, err, answer)
		require.NotContains(t, err.Error(), "\n", answer)
		if want != nil {
			require.ErrorIs(t, err, want, answer)
		}
	}
}

func TestGraphQLStandsBesideREST(t *testing.T) {
	for rest, want := range map[string]string{
		"https://api.github.com/":           "https://api.github.com/graphql",
		"https://api.octocorp.ghe.com/":     "https://api.octocorp.ghe.com/graphql",
		"https://git.example.com/api/v3/":   "https://git.example.com/api/graphql",
		"http://127.0.0.1:8080/some/prefix": "http://127.0.0.1:8080/some/prefix/graphql",
	} {
		u, err := url.Parse(rest)
		require.NoError(t, err)
		require.Equal(t, want, graphQLURL(u))
	}
}
