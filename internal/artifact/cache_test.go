package artifact

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/transport"
)

// dispatched is a client in a run that may write to the cache.
func dispatched(t *testing.T) (*Client, *githubtest.Server, *githubtest.Run) {
	t.Helper()
	s := githubtest.New(t)
	run := s.AddRepo("o/r", githubtest.RepoOptions{}).AddRun(githubtest.RunOptions{Event: "workflow_dispatch"})
	return client(t, s.ResultsURL, s.RuntimeToken(run, "draft")), s, run
}

func TestCacheEntriesOutliveARerunOfAllJobs(t *testing.T) {
	t.Parallel()
	c, s, run := dispatched(t)
	for _, key := range []string{"pr-1-", "pr-17-"} {
		_, err := c.NewestCache(t.Context(), key)
		require.ErrorIs(t, err, ErrNotFound)
	}
	large := bytes.Repeat([]byte("x"), blockSize+1)
	require.NoError(t, c.PutCache(t.Context(), "pr-1-a", []byte("first")))
	require.NoError(t, c.PutCache(t.Context(), "pr-1-b", large))
	require.NoError(t, c.PutCache(t.Context(), "pr-17-c", []byte("another's")))
	_, err := c.Upload(t.Context(), "n", []byte("zip"), 0)
	require.NoError(t, err)

	run.RerunAll()
	require.Empty(t, run.Artifacts())
	c = client(t, s.ResultsURL, s.RuntimeToken(run, "draft"))
	key, err := c.NewestCache(t.Context(), "pr-1-")
	require.NoError(t, err)
	require.Equal(t, "pr-1-b", key, "the newest one of the prefix")
	got, err := c.GetCache(t.Context(), key, int64(len(large)))
	require.NoError(t, err)
	require.True(t, bytes.Equal(large, got))
	_, err = c.GetCache(t.Context(), key, int64(len(large))-1)
	require.ErrorIs(t, err, transport.ErrTooLarge)
	_, err = c.GetCache(t.Context(), "pr-1-", 100)
	require.ErrorIs(t, err, ErrNotFound, "a prefix is no key")
	got, err = c.GetCache(t.Context(), "pr-1-a", 100)
	require.NoError(t, err)
	require.Equal(t, "first", string(got))
}

func TestACacheKeyIsWrittenOnce(t *testing.T) {
	t.Parallel()
	c, _, _ := dispatched(t)
	require.NoError(t, c.PutCache(t.Context(), "k", []byte("one")))
	require.ErrorIs(t, c.PutCache(t.Context(), "k", []byte("two")), ErrExists)
	for _, key := range []string{"", "a,b", strings.Repeat("k", 513)} {
		require.ErrorContains(t, c.PutCache(t.Context(), key, []byte("x")), "cannot be a cache's key")
	}
}

func TestACacheThatMayOnlyBeReadSaysSo(t *testing.T) {
	t.Parallel()
	c, s, run := job(t) // of pull_request_target
	require.ErrorIs(t, c.PutCache(t.Context(), "k", []byte("x")), ErrReadOnly)
	run.WriteCache()
	require.NoError(t, c.PutCache(t.Context(), "k", []byte("x")))
	s.Fail("POST", cachePath+"CreateCacheEntry", githubtest.Fault{Status: 403,
		Body: `{"code":"permission_denied","msg":"cache write denied: read only"}`})
	require.ErrorIs(t, c.PutCache(t.Context(), "l", []byte("x")), ErrReadOnly, "as an error of the protocol")
	s.Fail("POST", cachePath+"GetCacheEntryDownloadURL", githubtest.Fault{Status: 403,
		Body: `{"code":"permission_denied","msg":"cache read denied: token has no readable scopes"}`})
	_, err := c.NewestCache(t.Context(), "k")
	require.ErrorIs(t, err, ErrNotFound, "where the job declares cache-mode none or write-only")
}

func TestCacheSurvivesTroubleOnTheWay(t *testing.T) {
	t.Parallel()
	c, s, _ := dispatched(t)
	s.Fail("POST", cachePath+"CreateCacheEntry", githubtest.Fault{Status: 503, Times: 1})
	s.Fail("PUT", "/cache/*", githubtest.Fault{DropConnection: true, AfterWrite: true, Times: 1})
	s.Fail("POST", cachePath+"FinalizeCacheEntryUpload", githubtest.Fault{Status: 429, Times: 1})
	require.NoError(t, c.PutCache(t.Context(), "k", []byte("x")))
	s.Fail("POST", cachePath+"FinalizeCacheEntryUpload",
		githubtest.Fault{DropConnection: true, AfterWrite: true, Times: 1})
	require.NoError(t, c.PutCache(t.Context(), "k2", []byte("x")), "stored, and the answer lost")
	s.Fail("POST", cachePath+"GetCacheEntryDownloadURL", githubtest.Fault{Status: 502, Times: 1})
	key, err := c.NewestCache(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, "k", key)
	require.Equal(t, []string{"k", "k2"}, s.Repo("o/r").CacheKeys())
}

func TestCacheRepliesThatAreNoneAreErrors(t *testing.T) {
	t.Parallel()
	for reply, says := range map[string]string{
		`{"ok":false}`:                          "gave no reason",
		`{}`:                                    "gave no reason",
		`{"ok":false,"message":"quota\nspent"}`: "did not accept it: quota",
		`{"ok":true}`:                           "storing its content",
		`<html>`:                                "reading the answer",
		`{"ok":true,"signed_upload_url":"http://169.254.169.254/x?y=1"}`: "link-local",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, reply)
		}))
		t.Cleanup(server.Close)
		c := client(t, server.URL, someToken)
		require.ErrorContains(t, c.PutCache(t.Context(), "k", []byte("x")), says, reply)
		_, err := c.NewestCache(t.Context(), "k")
		require.Error(t, err, reply)
	}
}
