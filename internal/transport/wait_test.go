package transport

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestT31_WaitsAreReadInEveryFormAndBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, " 7 ": 7 * time.Second, "0.5": 500 * time.Millisecond, "-5": 0, "0": 0,
		"6m0s": 6 * time.Minute, "120ms": 120 * time.Millisecond, "1s": time.Second, "-3s": 0, "99999h": maxParsedWait,
		"1795320030": 30 * time.Second, "1795320030500": 30500 * time.Millisecond, "1e30": maxParsedWait,
		"99999999999999999999": maxParsedWait,
		"2026-11-22T04:01:00Z": time.Minute, "2026-11-22T05:01:00+01:00": time.Minute, "2020-01-01T00:00:00Z": 0,
		"9999-12-31T00:00:00Z":          maxParsedWait,
		"Sun, 22 Nov 2026 04:00:20 GMT": 20 * time.Second,
	} {
		wait, ok := Wait(value, now)
		require.True(t, ok, value)
		require.Equal(t, want, wait, value)
	}
	for _, value := range []string{"", "x", "NaN", "Inf", "-Inf", "1e400", "5 apples", "\x00"} {
		wait, ok := Wait(value, now)
		require.False(t, ok, value)
		require.Zero(t, wait, value)
	}
}

func TestRetryAfterReadsMillisecondsFirst(t *testing.T) {
	t.Parallel()
	for ms, want := range map[string]time.Duration{"250": 250 * time.Millisecond, "-1": 2 * time.Second,
		"NaN": 2 * time.Second, "1e99": 2 * time.Second, "": 2 * time.Second} {
		require.Equal(t, want, RetryAfter(http.Header{"Retry-After-Ms": {ms}, "Retry-After": {"2"}}, nil, time.Now()),
			ms)
	}
}

func TestAWaitIsReadInTheAnswersWords(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]time.Duration{
		`{"error":{"details":[{"retryDelay": "26s"}]}}`:               26 * time.Second,
		`{"error":{"message":"{\"retryDelay\": \"26s\"}"}}`:           26 * time.Second,
		`Quota exceeded.\nPlease retry in 16.614023621s.`:             16614023621,
		`Please try again in 1m2.5s. Need more tokens?`:               62500 * time.Millisecond,
		`Please try again in 20ms.`:                                   20 * time.Millisecond,
		`pricing tier. Please retry after 26 seconds. Please go here`: 26 * time.Second,
		`Please try again later.`:                                     0,
		`Please try again in 5 minutes.`:                              0, // not of 5 seconds
	} {
		require.Equal(t, want, RetryAfter(http.Header{}, []byte(body), time.Now()), body)
		require.Equal(t, 2*time.Second, RetryAfter(http.Header{"Retry-After": {"2"}}, []byte(body), time.Now()))
		wait, _ := limitWait(&http.Response{StatusCode: http.StatusOK}, []byte(body))
		require.Zero(t, wait, "what was asked for is not searched: it may be an archive")
	}
}

func FuzzWait(f *testing.F) {
	for _, s := range []string{"", "0", "-5", "7", "99999999999999999999", "Wed, 21 Oct 2015 07:28:00 GMT", "x", "6m0s",
		"NaN", "9999-12-31T00:00:00Z", "1795320030500"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		wait, ok := Wait(s, time.Now())
		require.True(t, wait >= 0 && wait <= maxParsedWait && (ok || wait == 0))
		after := RetryAfter(http.Header{"Retry-After": {s}, "Retry-After-Ms": {s}}, []byte("retry in "+s), time.Now())
		require.True(t, after >= 0 && after <= maxParsedWait)
	})
}
