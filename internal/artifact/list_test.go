package artifact

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

func TestListIsByPrefixAndNewestFirst(t *testing.T) {
	t.Parallel()
	c, s, run := job(t)
	list, err := c.List(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, list)
	for _, name := range []string{"p-1", "other", "p-2"} {
		_, err := c.Upload(t.Context(), name, []byte("zip of "+name), 0)
		require.NoError(t, err)
	}
	list, err = client(t, s.ResultsURL, s.RuntimeToken(run, "post")).List(t.Context(), "p-")
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, []string{"p-2", "p-1"}, []string{list[0].Name, list[1].Name})
	stored := run.Artifacts()[2]
	require.Equal(t, []any{stored.ID, stored.Size, stored.Digest}, []any{int64(list[0].ID), int64(list[0].Size), list[0].Digest})
	require.WithinDuration(t, stored.CreatedAt, list[0].Created, 0)
	zip, err := c.Load(t.Context(), list[1], 100)
	require.NoError(t, err)
	require.Equal(t, "zip of p-1", string(zip))
	_, err = c.Load(t.Context(), list[1], 3)
	require.Error(t, err)
}

func TestDeleteIsOfANameOfAnyJob(t *testing.T) {
	t.Parallel()
	c, s, run := job(t)
	_, err := c.Upload(t.Context(), "n", []byte("zip"), 0)
	require.NoError(t, err)
	other := client(t, s.ResultsURL, s.RuntimeToken(run, "post"))
	require.NoError(t, other.Delete(t.Context(), "n"))
	require.Empty(t, run.Artifacts())
	require.ErrorIs(t, c.Delete(t.Context(), "n"), ErrNotFound)
	_, err = c.Upload(t.Context(), "n", []byte("anew"), 0)
	require.NoError(t, err, "the name is free again")
}

func TestT20_WhatReplacesAnArtifactIsNotTheListedOne(t *testing.T) {
	t.Parallel()
	c, s, run := job(t)
	_, err := c.Upload(t.Context(), "n", []byte("shown"), 0)
	require.NoError(t, err)
	list, err := c.List(t.Context(), "n")
	require.NoError(t, err)

	// The runtime token alone governs this, so any step of the run can do it.
	thief := client(t, s.ResultsURL, s.RuntimeToken(run, "thief"))
	require.NoError(t, thief.Delete(t.Context(), "n"))
	_, err = thief.Upload(t.Context(), "n", []byte("swapped"), 0)
	require.NoError(t, err)
	_, err = c.Load(t.Context(), list[0], 100)
	require.Error(t, err, "what was listed is gone")
	zip, err := c.Download(t.Context(), "n", 100)
	require.NoError(t, err, "by name it is found: only a digest that came by another way tells them apart")
	require.NotEqual(t, list[0].Digest, digest(zip))
}

func TestAnUploadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for at, path := range []string{"/twirp/**/CreateArtifact", "/artifacts/**", "/twirp/**/FinalizeArtifact"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			c, s, run := job(t)
			never := make(chan struct{})
			t.Cleanup(func() { close(never) })
			s.Fail("*", path, githubtest.Fault{Hold: never})
			ctx, cancel := context.WithCancel(t.Context())
			var sent atomic.Int32
			ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) {
				if int(sent.Add(1)) == at+1 {
					cancel() // while the server holds this request
				}
			}})
			_, err := c.Upload(ctx, "n", []byte("zip"), 0)
			require.ErrorIs(t, err, context.Canceled)
			require.EqualValues(t, at+1, sent.Load())
			require.Empty(t, run.Artifacts(), "nothing half stored is listed")
		})
	}
}

// Not parallel: it counts what the whole process allocates.
func TestAnUploadHoldsNoSecondCopy(t *testing.T) {
	zip := make([]byte, 48<<20)
	var base string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch method := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]; method {
		case "CreateArtifact":
			io.WriteString(w, `{"ok":true,"signed_upload_url":"`+base+`/blob?x=1"}`)
		case "FinalizeArtifact":
			w.WriteHeader(http.StatusConflict)
		case "ListArtifacts":
			io.WriteString(w, `{"artifacts":[{"workflow_run_backend_id":"r","workflow_job_run_backend_id":"j"`+
				`,"database_id":"5","name":"n","digest":"`+digest(zip)+`"}]}`)
		}
	}))
	defer server.Close()
	base = server.URL
	c := client(t, server.URL, someToken)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	id, err := c.Upload(t.Context(), "n", zip, 0)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.EqualValues(t, 5, id, "also where a lost answer is settled")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
}
