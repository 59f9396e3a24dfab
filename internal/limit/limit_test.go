package limit

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/transport"
)

// TestMain has garbage collected rarely: the tests allocate much and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

func answer(code int, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: code, Header: h, Body: http.NoBody,
		Request: asked()}
}

// saying returns an answer with a text, which can be read once.
func saying(code int, text string) *http.Response {
	return &http.Response{StatusCode: code, Request: asked(), Body: io.NopCloser(strings.NewReader(text))}
}

func asked() *http.Request {
	r, err := http.NewRequest("POST", "https://model.example/v1/x?key=secret", nil)
	if err != nil {
		panic(err)
	}
	return r
}

// begin starts a call that must be let through.
func begin(t *testing.T, l *Limiter) func(*http.Response, error) {
	t.Helper()
	end, err := l.Begin(t.Context(), 100)
	require.NoError(t, err)
	return end
}

func TestCallsBeginInTheirOrderAndAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Concurrency: 2})
		ends := []func(*http.Response, error){begin(t, l), begin(t, l)}
		order := make(chan int, 3)
		for i := range 3 {
			go func() {
				end := begin(t, l)
				order <- i
				ends = append(ends, end)
			}()
			synctest.Wait()
		}
		require.Empty(t, order)
		for i := range 3 {
			ends[i](answer(200), nil)
			ends[i](answer(200), nil) // a second end is none
			synctest.Wait()
			require.Len(t, order, 1)
			require.Equal(t, i, <-order)
		}
	})
}

func TestANewcomerDoesNotPassTheQueue(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{Concurrency: 1})
			end := begin(t, l)
			var order []string
			go func() {
				end := begin(t, l)
				order = append(order, "waited")
				end(answer(200), nil)
			}()
			synctest.Wait()
			end(answer(200), nil)
			begin(t, l)
			order = append(order, "came later")
			require.Equal(t, []string{"waited", "came later"}, order)
		})
	}
}

func TestAWaitEndsWithItsContextAndKeepsNobodyUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Concurrency: 1})
		end := begin(t, l)
		ctx, cancel := context.WithCancelCause(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { _, err := l.Begin(ctx, 0); first <- err }()
		synctest.Wait()
		go func() { _, err := l.Begin(t.Context(), 0); second <- err }()
		synctest.Wait()
		cancel(nil)
		require.ErrorIs(t, <-first, context.Canceled)
		end(answer(200), nil)
		require.NoError(t, <-second)
	})
}

func TestNobodyStartsBeforeTheTimeTheServerNames(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		code   int
		header []string
		least  time.Duration
	}{
		"429":            {429, []string{"Retry-After", "7"}, 7 * time.Second},
		"milliseconds":   {429, []string{"Retry-After-Ms", "7500"}, 7500 * time.Millisecond},
		"unavailable":    {503, []string{"Retry-After", "7"}, 7 * time.Second},
		"overloaded":     {529, []string{"Retry-After", "7"}, 7 * time.Second},
		"without a time": {429, nil, 750 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			var said []time.Duration
			l := New(Options{Concurrency: 8, OnWait: func(d time.Duration, _ string) { said = append(said, d) }})
			begin(t, l)(answer(tc.code, tc.header...), nil)
			start := time.Now()
			starts := make(chan time.Duration, 4)
			for range 4 {
				go func() { begin(t, l); starts <- time.Since(start) }()
			}
			synctest.Wait()
			last := time.Duration(-1)
			for range 4 {
				at := <-starts
				require.GreaterOrEqual(t, at, tc.least, name)
				require.Greater(t, at, last, "%s: they come back spread", name)
				last = at
			}
			require.Equal(t, tc.least >= minReportedWait, len(said) > 0, name)
			require.LessOrEqual(t, len(said), 1, "%s: one wait is told once", name)
		})
	}
}

func TestT31_HostileHeadersHoldNobodyForLong(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"-1", "NaN", "1e308", "99999999999999999999", "9999-12-31T00:00:00Z", "0", "x",
		"\x00", "-9h"} {
		for _, left := range []string{"0", "-5", value} {
			synctest.Test(t, func(t *testing.T) {
				l := New(Options{Concurrency: 1})
				start := time.Now()
				for range 20 {
					begin(t, l)(answer(200, "X-Ratelimit-Limit-Requests", "100", "X-Ratelimit-Remaining-Requests", left,
						"X-Ratelimit-Reset-Requests", value,
						"X-Ratelimit-Limit-Tokens", value, "X-Ratelimit-Remaining-Tokens", left,
						"X-Ratelimit-Reset-Tokens", value), nil)
				}
				require.LessOrEqual(t, time.Since(start), 5*longestWait, "%q %q", left, value)
			})
		}
	}
}

func TestT31_TokensThatAreNeverLeftHoldNobodyForLong(t *testing.T) {
	t.Parallel()
	for _, reset := range []string{"24h", "10m"} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{Concurrency: 1})
			start := time.Now()
			for range 20 {
				end, err := l.Begin(t.Context(), 20_000)
				require.NoError(t, err)
				end(answer(200, "X-Ratelimit-Limit-Tokens", "100000", "X-Ratelimit-Remaining-Tokens", "0",
					"X-Ratelimit-Reset-Tokens", reset), nil)
			}
			require.LessOrEqual(t, time.Since(start), 5*longestWait, reset)
		})
	}
}

// dead reviews files against a server that fails every call, with five tries.
func dead(t *testing.T, l *Limiter, resp *http.Response, cause error) (took time.Duration, down int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	files := make(chan int, 66)
	for i := range 66 {
		files <- i
	}
	close(files)
	for range 8 {
		wg.Go(func() {
			for range files {
				for try := range 5 {
					end, err := l.Begin(t.Context(), 1)
					if errors.Is(err, ErrDown) {
						mu.Lock()
						down++
						mu.Unlock()
						break
					}
					_ = transport.Sleep(t.Context(), refusalLatency)
					end(resp, cause)
					_ = transport.Sleep(t.Context(), time.Second/2<<try)
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start), down
}

func TestADeadServerIsNotAskedByEveryFile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		resp *http.Response
		err  error
	}{
		"refused connection": {err: syscall.ECONNREFUSED}, "no answer": {err: transport.ErrTimeout},
		"503": {resp: answer(503)}, "401": {resp: answer(401)}, "403": {resp: answer(403)},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{Concurrency: 8})
			took, down := dead(t, l, tc.resp, tc.err)
			require.LessOrEqual(t, took, 3*time.Second, name)
			require.GreaterOrEqual(t, down, 60, name)
			_, err := l.Begin(t.Context(), 1)
			failed, ok := errors.AsType[*DownError](err)
			require.True(t, ok, name)
			require.GreaterOrEqual(t, failed.Failures, 8)
			require.NotContains(t, err.Error(), "secret")
			if tc.err != nil {
				require.ErrorIs(t, err, tc.err)
				return
			}
			status, ok := errors.AsType[*transport.StatusError](err)
			require.True(t, ok)
			require.Equal(t, tc.resp.StatusCode, status.Code)
		})
	}
}

func TestWhatIsAboutOneCallTripsNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		resp  *http.Response
		err   error
		times int
	}{
		"one bad file": {resp: answer(500), times: 15}, "400": {resp: saying(400, "try again in 9h"), times: 1},
		"404": {resp: answer(404), times: 40},
		"429": {resp: answer(429), times: maxRefusals - 1}, "cancelled": {err: context.Canceled, times: 40},
		"a hook's no": {err: transport.ErrNotBegun, times: 40},
		"too large":   {err: transport.ErrTooLarge, times: 40},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{Concurrency: 1})
			for range tc.times {
				begin(t, l)(tc.resp, tc.err)
			}
			_, err := l.Begin(t.Context(), 1)
			require.NoError(t, err, name)
		})
	}
}

func TestARequestThatIsTooLargeForTheAccountHoldsNobody(t *testing.T) {
	t.Parallel()
	for code, text := range map[int]string{
		429: "Request too large for m on tokens per min (TPM): Limit 30000, Requested 37313. Please try again in 9s.",
		402: "This request requires more credits, or fewer max_tokens.",
	} {
		synctest.Test(t, func(t *testing.T) {
			l, start := New(Options{Concurrency: 1}), time.Now()
			for range 2 * tripWeight {
				begin(t, l)(saying(code, text), nil)
			}
			begin(t, l)
			require.Zero(t, time.Since(start), text)
		})
	}
}

func TestAfterACooldownOneCallFindsOutAndASuccessCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Concurrency: 4})
		_, _ = dead(t, l, answer(503), nil)
		refused := func() { _, err := l.Begin(t.Context(), 1); require.ErrorIs(t, err, ErrDown) }
		refused()
		require.NoError(t, transport.Sleep(t.Context(), firstCooldown))
		probe := begin(t, l)
		refused()
		probe(answer(503), nil)
		require.NoError(t, transport.Sleep(t.Context(), firstCooldown))
		refused() // the cool-down has doubled
		require.NoError(t, transport.Sleep(t.Context(), firstCooldown))
		begin(t, l)(answer(200), nil)
		begin(t, l)
		begin(t, l)
	})
}

func TestALimitBeyondOurPatienceFailsAtOnce(t *testing.T) {
	t.Parallel()
	for name, resp := range map[string]*http.Response{
		"an hour": answer(429, "Retry-After", "3600"), "in words": saying(429, "Please try again in 1h0m5s."),
		"no funds": saying(429, `{"error":{"code":"insufficient_quota"}}`),
	} {
		l := New(Options{Concurrency: 4})
		begin(t, l)(resp, nil)
		_, err := l.Begin(t.Context(), 1)
		require.ErrorIs(t, err, ErrDown, name)
	}
}

func TestATimeBeyondOurPatienceHoldsNobodyWhereAnotherCallPasses(t *testing.T) {
	t.Parallel()
	for _, code := range []int{429, 503, 529} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{Concurrency: 2})
			names, passes := begin(t, l), begin(t, l)
			names(answer(code, "Retry-After", "86400"), nil)
			passes(answer(200), nil)
			start := time.Now()
			begin(t, l)
			require.LessOrEqual(t, time.Since(start), longestPause, code)
		})
	}
}

func TestABurstOfRefusalsTripsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Concurrency: 2 * maxRefusals})
		var ends []func(*http.Response, error)
		for range 2 * maxRefusals {
			ends = append(ends, begin(t, l))
		}
		for _, end := range ends {
			end(answer(429), nil)
		}
		begin(t, l)
	})
}

func TestAServerThatRefusesEveryCallForItsRateIsDownAfterAWhile(t *testing.T) {
	t.Parallel()
	for name, passing := range map[string]bool{"nothing else": false, "one in twenty passes": true} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{Concurrency: 8})
			start := time.Now()
			for i := range 400 {
				end, err := l.Begin(t.Context(), 1)
				if err != nil {
					require.ErrorIs(t, err, ErrDown)
					require.False(t, passing)
					require.GreaterOrEqual(t, time.Since(start), refusedFor)
					require.LessOrEqual(t, time.Since(start), 2*refusedFor)
					return
				}
				if passing && i%20 == 19 {
					end(answer(200), nil)
					continue
				}
				end(answer(429), nil)
			}
			require.True(t, passing, name)
		})
	}
}
