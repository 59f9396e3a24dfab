package llmtest

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRequestsComeBackBitByBit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Honest)
		s.PerMinute = 60
		require.Equal(t, 60, let(s, time.Second, 100))
		require.Equal(t, 1, let(s, time.Second, 100), "after a second, of a hundred")
		require.Equal(t, 60, let(s, time.Minute, 100))
		require.Equal(t, 40+99+40, s.Limited())
		require.Equal(t, 60+1+60, s.Calls(), "who is turned away is not asked")
	})
}

// let waits and sends so many small requests, and returns how many were let in.
func let(s *Server, d time.Duration, times int) (in int) {
	wait(httptest.NewRequest(http.MethodGet, "/", nil), d)
	for range times {
		if code, _ := exchange(s, "/v1/chat/completions", chat(messages), nil); code == http.StatusOK {
			in++
		}
	}
	return in
}
