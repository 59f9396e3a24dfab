package faulttest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// echo answers what it was sent, and counts.
func echo(t *testing.T) (*RoundTripper, func(body string) (int, string, error), *atomic.Int32) {
	acted := new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		acted.Add(1)
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(server.Close)
	faults := NewRoundTripper(server.Client().Transport)
	client := &http.Client{Transport: faults}
	return faults, func(body string) (int, string, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(body))
		require.NoError(t, err)
		answer, err := client.Do(r)
		if err != nil {
			return 0, "", err
		}
		got, err := io.ReadAll(answer.Body)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode, string(got), err
	}, acted
}

func TestEachFaultBefallsItsRequestAlone(t *testing.T) {
	t.Parallel()
	slept := time.Duration(0)
	sleep := func(_ context.Context, d time.Duration) error { slept += d; return nil }
	for name, c := range map[string]struct {
		fault Fault
		acted int32
		code  int
		body  string
		err   error
	}{
		"drop":         {Drop, 0, 0, "", syscall.ECONNRESET},
		"drop answer":  {After(Drop), 1, 0, "", syscall.ECONNRESET},
		"answer":       {Answer(503, http.Header{"retry-after": {"1"}}, "busy"), 0, 503, "busy", nil},
		"answer after": {After(Answer(502, nil, "<html>")), 1, 502, "<html>", nil},
		"truncate":     {Truncate(3), 1, 200, "two"[:3], io.ErrUnexpectedEOF},
		"repeat":       {Repeat, 2, 200, "two words", nil},
		"delay":        {Delay(time.Minute, sleep), 1, 200, "two words", nil},
	} {
		t.Run(name, func(t *testing.T) {
			faults, send, acted := echo(t)
			faults.At(2, c.fault)
			for n := 1; n <= 3; n++ {
				before := acted.Load()
				code, body, err := send("two words")
				if n != 2 {
					require.NoError(t, err)
					require.Equal(t, "two words", body)
					require.Equal(t, before+1, acted.Load())
					continue
				}
				require.ErrorIs(t, err, c.err)
				require.Equal(t, c.code, code)
				require.Equal(t, c.body, body)
				require.Equal(t, before+c.acted, acted.Load())
			}
			require.Equal(t, 3, faults.Count())
		})
	}
	require.Equal(t, time.Minute, slept)
}

func TestAKilledProcessSendsNothingMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault Fault
		acted int32
	}{{Drop, 1}, {After(Drop), 2}} {
		faults, send, acted := echo(t)
		faults.Kill(2, c.fault)
		_, _, err := send("one")
		require.NoError(t, err)
		for range 3 {
			_, _, err = send("more")
			require.ErrorIs(t, err, syscall.ECONNRESET)
		}
		require.Equal(t, c.acted, acted.Load())
		require.Equal(t, 4, faults.Count())
	}
}
