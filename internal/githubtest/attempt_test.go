package githubtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

func TestARerunOfAllJobsLosesArtifactsAndAnotherDoesNot(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		shared, all   bool
		runtime, rest int
	}{
		"failed":            {false, false, 0, 1},
		"failed, all shown": {true, false, 1, 1},
		"all":               {false, true, 0, 0},
		"all, all shown":    {true, true, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, githubtest.Options{SharedAttempts: tc.shared})
			run := w.repo.AddRun(githubtest.RunOptions{})
			newJob(t, w, run, "draft").upload("a", "zip")
			run.Finish("failure")
			again := run.Rerun
			if tc.all {
				again = run.RerunAll
			}
			again()
			require.Equal(t, 2, run.RunAttempt)
			_, v := newJob(t, w, run, "draft").call("ListArtifacts", nil)
			listed, _ := v["artifacts"].([]any)
			require.Len(t, listed, tc.runtime)
			require.Len(t, run.Artifacts(), tc.rest)
			newJob(t, w, run, "other").call("CreateArtifact", map[string]any{"name": "b", "version": 4})
		})
	}
}

// cache speaks the cache service by hand.
func (j *job) cache(method string, fields map[string]any) (int, map[string]any) {
	j.t.Helper()
	body, err := json.Marshal(fields)
	require.NoError(j.t, err)
	r, err := http.NewRequest(http.MethodPost, j.w.ResultsURL+"twirp/github.actions.results.api.v1.CacheService/"+
		method, bytes.NewReader(body))
	require.NoError(j.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+j.token)
	code, text := send(j.t, r)
	var v map[string]any
	require.NoError(j.t, json.Unmarshal(text, &v), "%s", text)
	return code, v
}

func (j *job) fill(key, content string) {
	j.t.Helper()
	_, v := j.cache("CreateCacheEntry", map[string]any{"key": key, "version": "v"})
	signed := v["signed_upload_url"].(string)
	require.Equal(j.t, http.StatusCreated, put(j.t, signed, block("1"), strings.NewReader(content)))
	require.Equal(j.t, http.StatusCreated, put(j.t, signed, "&comp=blocklist", blockList("1")))
	code, v := j.cache("FinalizeCacheEntryUpload",
		map[string]any{"key": key, "version": "v", "size_bytes": fmt.Sprint(len(content))})
	require.Equal(j.t, http.StatusOK, code, v)
	require.Equal(j.t, true, v["ok"])
}

func TestCacheServiceFindsByKeyAndPrefix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	push := newJob(t, w, w.repo.AddRun(githubtest.RunOptions{Event: "push"}), "warm")
	push.fill("k-1", "one")
	push.fill("k-2", "two")
	code, _ := push.cache("CreateCacheEntry", map[string]any{"key": "k-1", "version": "v"})
	require.Equal(t, http.StatusConflict, code)
	code, _ = push.cache("FinalizeCacheEntryUpload", map[string]any{"key": "k-1", "version": "v", "size_bytes": "3"})
	require.Equal(t, http.StatusNotFound, code)
	for _, bad := range []map[string]any{{"key": "", "version": "v"}, {"key": "a,b", "version": "v"}, {"key": "k"},
		{"key": "k", "version": "v", "colour": 1}} {
		code, _ = push.cache("CreateCacheEntry", bad)
		require.Equal(t, http.StatusBadRequest, code)
	}
	code, _ = push.cache("Frobnicate", map[string]any{"key": "k", "version": "v"})
	require.Equal(t, http.StatusNotFound, code)

	target := newJob(t, w, w.repo.AddRun(githubtest.RunOptions{Event: "pull_request_target"}), "draft")
	for query, want := range map[string]any{`{"key":"k-1","version":"v"}`: "k-1",
		`{"key":"x","restore_keys":["k-"],"version":"v"}`: "k-2", `{"key":"k-1","version":"w"}`: nil,
		`{"key":"x","version":"v"}`: nil} {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(query), &fields))
		_, v := target.cache("GetCacheEntryDownloadURL", fields)
		require.Equal(t, want, v["matched_key"], query)
		if want == nil {
			require.Empty(t, v)
			continue
		}
		code, _ := fetch(t, v["signed_download_url"].(string))
		require.Equal(t, http.StatusOK, code)
	}
	_, v := target.cache("CreateCacheEntry", map[string]any{"key": "k-3", "version": "v"})
	require.NotEqual(t, true, v["ok"])
	require.Contains(t, v["message"], "cache write denied:")

	topic := newJob(t, w, w.repo.AddRun(githubtest.RunOptions{Event: "pull_request", HeadBranch: "topic"}), "ci")
	topic.fill("k-9", "mine")
	_, v = topic.cache("GetCacheEntryDownloadURL", map[string]any{"key": "k-", "version": "v"})
	require.Equal(t, "k-9", v["matched_key"], "its own before the default branch's")
	_, v = push.cache("GetCacheEntryDownloadURL", map[string]any{"key": "k-9", "version": "v"})
	require.Empty(t, v)
	require.Equal(t, []string{"k-1", "k-2", "k-9"}, w.repo.CacheKeys())
	w.repo.ClearCache()
	require.Empty(t, w.repo.CacheKeys())
}

func TestOnRequestSeesBothSidesOfTheServersAct(t *testing.T) {
	t.Parallel()
	for phase, acted := range map[string]int{"before": 0, "after": 1} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx, kill := context.WithCancel(t.Context())
			var mu sync.Mutex
			var seen []string
			w.OnRequest(func(n int, r *http.Request, at string) {
				mu.Lock()
				seen = append(seen, fmt.Sprint(n, " ", r.Method, " ", at))
				mu.Unlock()
				if n == 2 && at == phase {
					kill()
					<-r.Context().Done()
				}
			})
			c := w.client(t, w.write)
			_, _, err := c.Repositories.Get(ctx, "octo", "demo")
			require.NoError(t, err)
			_, _, err = c.PullRequests.CreateReview(ctx, "octo", "demo", 1, review(4))
			require.ErrorIs(t, err, context.Canceled)
			w.Close() // waits for what is under way
			require.Len(t, w.pull.Reviews(), acted)
			require.Equal(t, append([]string{"1 GET before", "1 GET after", "2 POST before"},
				[]string{"2 POST after"}[:acted]...), seen)
		})
	}
}
