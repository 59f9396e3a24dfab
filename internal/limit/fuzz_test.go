package limit

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func FuzzHeaders(f *testing.F) {
	f.Add("100", "0", "6m0s", "7", 429)
	f.Add("-1", "NaN", "9999-12-31T00:00:00Z", "-3", 200)
	f.Add("100, 100;w=60", "50", "1795320030500", "", 503)
	f.Fuzz(func(t *testing.T, limit, left, reset, after string, code int) {
		l := New(Options{Concurrency: 2})
		now := time.Now()
		for range 3 {
			require.NoError(t, l.slots.Acquire(t.Context(), 1))
			c := &call{number: l.started + 1, at: now, requests: l.requests.take(now, 1), tokens: l.tokens.take(now, 5)}
			l.started++
			resp := answer(code, "X-Ratelimit-Limit-Requests", limit, "X-Ratelimit-Remaining-Requests", left,
				"X-Ratelimit-Reset-Requests", reset,
				"X-Ratelimit-Limit-Tokens", limit, "X-Ratelimit-Remaining-Tokens", left, "X-Ratelimit-Reset-Tokens",
				reset)
			resp.Header["Retry-After"] = []string{after}
			l.end(c, resp, nil)
			for _, q := range []*quota{&l.requests, &l.tokens} {
				wait := q.wait(now, 1)
				require.True(t, wait >= 0 && wait <= longestWait, strconv.Quote(reset))
			}
		}
	})
}
