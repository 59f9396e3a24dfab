package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// trace is a hook that writes down what it hears.
func trace(log *[]string, name string) BeginFunc {
	return func(_ context.Context, try int) (func(*http.Response, error), error) {
		*log = append(*log, fmt.Sprintf("%s begins %d", name, try))
		return func(resp *http.Response, err error) {
			word := "failed"
			if resp != nil {
				body, _ := io.ReadAll(resp.Body)
				word = fmt.Sprintf("%d %s", resp.StatusCode, body)
			}
			*log = append(*log, strings.TrimSpace(fmt.Sprintf("%s ends %s", name, word)))
		}, nil
	}
}

func request(t *testing.T, ctx context.Context, base string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", base, nil)
	require.NoError(t, err)
	return req
}

func TestHooksSeeEveryTryAndNest(t *testing.T) {
	t.Parallel()
	var log []string
	ctx := EachTry(EachTry(t.Context(), trace(&log, "first")), trace(&log, "last"))
	base, _ := answers(t, func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}, status(503), text("fine"))
	var w waits
	body, err := Do(New(w.options(Options{Tries: 3})), request(t, ctx, base))
	require.NoError(t, err)
	require.Equal(t, "fine", string(body), "a hook that reads the body leaves it to others")
	require.Equal(t, []string{
		"last begins 1", "first begins 1", "first ends failed", "last ends failed",
		"last begins 2", "first begins 2", "first ends 503", "last ends 503",
		"last begins 3", "first begins 3", "first ends 200 fine", "last ends 200 fine",
	}, log)
}

func TestAHooksNoEndsTheRequest(t *testing.T) {
	t.Parallel()
	spent := errors.New("nothing is left")
	var told error
	var log []string
	ctx := EachTry(t.Context(), trace(&log, "never"))
	ctx = EachTry(ctx, func(context.Context, int) (func(*http.Response, error), error) { return nil, spent })
	ctx = EachTry(ctx, func(context.Context, int) (func(*http.Response, error), error) {
		return func(_ *http.Response, err error) { told = err }, nil
	})
	base, calls := answers(t, text("x"))
	var w waits
	_, err := New(w.options(Options{})).Do(request(t, ctx, base))
	require.ErrorIs(t, err, spent)
	require.ErrorContains(t, err, ": nothing is left")
	require.ErrorIs(t, told, ErrNotBegun)
	require.ErrorIs(t, told, spent)
	require.False(t, Sent(err))
	require.Empty(t, log)
	require.Empty(t, w.all)
	require.Zero(t, calls())
}

func TestAWaitInAHookIsNoPartOfTheTrysTime(t *testing.T) {
	t.Parallel()
	ctx := EachTry(t.Context(), func(ctx context.Context, _ int) (func(*http.Response, error), error) {
		_, limited := ctx.Deadline()
		require.False(t, limited)
		return func(*http.Response, error) {}, nil
	})
	base, _ := answers(t, text("x"))
	_, err := Do(New(Options{Timeout: time.Minute}), request(t, ctx, base))
	require.NoError(t, err)
}

func TestP9_WhatNeverLeftIsToldFromWhatMayBeBilled(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	plain, _ := answers(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	slow, _ := answers(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, tc := range map[string]struct {
		address string
		sent    bool
	}{
		"nobody listens": {"http://" + closed.Addr().String(), false},
		"no such name":   {"http://nothing.invalid", false},
		"no TLS there":   {strings.Replace(plain, "http:", "https:", 1), false},
		"metadata":       {"http://169.254.169.254/", false},
		"dropped":        {plain, true},
		"stalled":        {slow, true},
	} {
		_, err := New(Options{Tries: 1, Timeout: 2 * time.Second, AllowHTTP: true}).Do(request(t, t.Context(),
			tc.address))
		require.Error(t, err, name)
		require.Equal(t, tc.sent, Sent(err), "%s: %v", name, err)
	}
	require.False(t, Sent(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}))
	require.True(t, Sent(io.ErrUnexpectedEOF))
}

func TestModelServersAreWaitedForInTheirOwnMeasure(t *testing.T) {
	t.Parallel()
	model := Options{Backoff: time.Second, LimitWait: 500 * time.Millisecond, LimitTries: 6}
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		waits  []time.Duration
	}{
		"failures": {status(500), []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second,
			4 * time.Second}},
		"without a time": {status(429), []time.Duration{time.Second, 1500 * time.Millisecond, 2500 * time.Millisecond,
			4500 * time.Millisecond, 4500 * time.Millisecond}},
		"milliseconds": {status(429, "Retry-After-Ms", "200"), []time.Duration{700 * time.Millisecond,
			700 * time.Millisecond, 700 * time.Millisecond, 700 * time.Millisecond, 700 * time.Millisecond}},
		"reset": {status(429, "X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "4m0s"),
			[]time.Duration{240500 * time.Millisecond}},
		"busy": {status(503, "Retry-After", "100"), []time.Duration{100500 * time.Millisecond, 101 * time.Second}},
		"no money": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(429)
			io.WriteString(w, `{"error":{"code":"insufficient_quota"}}`)
		}, nil},
	} {
		var w waits
		base, calls := answers(t, tc.answer)
		_, _, err := get(t, New(w.options(model)), base)
		require.NoError(t, err, name)
		require.Equal(t, tc.waits, w.all, name)
		require.Equal(t, len(tc.waits)+1, calls(), name)
	}
}

func TestJitterIsFullAndNeverBeforeTheTimeNamed(t *testing.T) {
	t.Parallel()
	for jitter, want := range map[float64]time.Duration{0: 0, 0.25: 500 * time.Millisecond,
		0.999: 1998 * time.Millisecond} {
		for code, least := range map[int]time.Duration{500: 0, 429: 7 * time.Second} {
			var w waits
			o := w.options(Options{Tries: 2})
			o.Jitter = func() float64 { return jitter }
			header := []string{}
			if least > 0 {
				header = []string{"Retry-After", "7"}
			}
			base, _ := answers(t, status(code, header...))
			_, _, err := get(t, New(o), base)
			require.NoError(t, err)
			require.Equal(t, []time.Duration{least + want}, w.all)
		}
	}
}
