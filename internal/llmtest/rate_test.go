package llmtest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// knock sends a small request and returns the response's status and headers.
func knock(s *Server, extra ...string) (int, http.Header) {
	w := httptest.NewRecorder()
	body := chat(append([]string{messages}, extra...)...)
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
	return w.Code, w.Header()
}

func TestRequestsComeBackBitByBit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Honest)
		s.Rate = Rate{Requests: 60}
		code, h := knock(s)
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, []string{"60", "59"},
			[]string{h.Get("X-Ratelimit-Limit-Requests"), h.Get("X-Ratelimit-Remaining-Requests")})
		let(s, 10*time.Second, 100)
		code, h = knock(s)
		require.Equal(t, http.StatusTooManyRequests, code)
		require.Equal(t, "1m0s", h.Get("X-Ratelimit-Reset-Requests"))
		require.Equal(t, 1, let(s, time.Second, 100), "after a second, of a hundred")
		require.Equal(t, 60, let(s, time.Minute, 100))
	})
}

// let waits and knocks so often, and returns how often it was let in.
func let(s *Server, d time.Duration, times int) int {
	wait(httptest.NewRequest(http.MethodGet, "/", nil), d)
	in := 0
	for range times {
		if code, _ := knock(s); code == http.StatusOK {
			in++
		}
	}
	return in
}

func TestTokensAreTheLargerOfInputAndOutputLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Honest)
		s.Rate = Rate{Tokens: 600, Silent: true}
		for _, step := range []struct {
			limit string
			code  int
		}{{"500", 200}, {"101", 429}, {"100", 200}, {"1", 429}, {"601", 429}} {
			code, h := knock(s, `"max_completion_tokens":`+step.limit)
			require.Equal(t, step.code, code, step.limit)
			require.Empty(t, h.Get("X-Ratelimit-Limit-Tokens"), "it says nothing")
		}
		require.Equal(t, 3, s.Limited())
		require.Equal(t, 2, s.Calls(), "who is turned away is not asked")
		wait(httptest.NewRequest(http.MethodGet, "/", nil), 100*time.Millisecond)
		code, _ := knock(s, `"max_completion_tokens":1`)
		require.Equal(t, http.StatusOK, code, "a token came back")
	})
}

func TestLengthsAreWrittenAsOpenAIDoes(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		6 * time.Minute: "6m0s", 1500 * time.Millisecond: "1.5s", 120 * time.Millisecond: "120ms",
		time.Nanosecond: "1ms", -time.Second: "0s", 0: "0s",
	} {
		require.Equal(t, want, length(d))
	}
}
