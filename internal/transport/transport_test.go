package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/problem"
)

// waits collects what a client would have slept.
type waits struct{ all []time.Duration }

func (w *waits) options(o Options) Options {
	o.Sleep = func(_ context.Context, d time.Duration) error {
		w.all = append(w.all, d)
		return nil
	}
	o.Jitter = func() float64 { return 0.5 }
	return o
}

// answers serves the handlers in turn, the last one for ever, and counts.
func answers(t *testing.T, handlers ...http.HandlerFunc) (base string, calls func() int) {
	t.Helper()
	ch := make(chan int, 1)
	ch <- 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := <-ch
		ch <- n + 1
		handlers[min(n, len(handlers)-1)](w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() int { n := <-ch; ch <- n; return n }
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, s) }
}

func get(t *testing.T, c *http.Client, address string) (*http.Response, string, error) {
	t.Helper()
	t.Cleanup(c.CloseIdleConnections)
	resp, err := c.Get(address)
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp, string(body), nil
}

func TestG30_RetriesWhatMayPass(t *testing.T) {
	soon := strconv.FormatInt(time.Now().Add(90*time.Second).Unix(), 10)
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "short")
	}
	for name, tc := range map[string]struct {
		first   http.HandlerFunc
		atLeast time.Duration
	}{
		"server error":       {status(502), time.Second},
		"unusual 5xx":        {status(529), time.Second},
		"server's timeout":   {status(408), time.Second},
		"too many requests":  {status(429, "Retry-After", "7"), 7 * time.Second},
		"429 without a time": {status(429), time.Minute},
		"403 retry-after":    {status(403, "Retry-After", "9"), 9 * time.Second},
		"403 spent limit":    {status(403, "X-Ratelimit-Remaining", "0", "X-Ratelimit-Reset", soon), 80 * time.Second},
		"body cut short":     {cut, time.Second},
		"connection dropped": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, time.Second},
		"403 in words": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(403)
			io.WriteString(w, `{"message":"You have exceeded a Secondary Rate Limit"}`)
		}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w waits
			base, calls := answers(t, tc.first, text("fine"))
			_, body, err := get(t, New(w.options(Options{})), base)
			require.NoError(t, err)
			require.Equal(t, "fine", body)
			require.Equal(t, 2, calls())
			require.Len(t, w.all, 1)
			require.GreaterOrEqual(t, w.all[0], tc.atLeast)
		})
	}
}

func TestG30_DoesNotRetryWhatStays(t *testing.T) {
	for name, first := range map[string]http.HandlerFunc{
		"not found": status(404), "unauthorised": status(401), "forbidden": status(403, "X-Ratelimit-Remaining", "17"),
		"not implemented": status(501), "an hour's wait": status(429, "Retry-After", "3600"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w waits
			base, calls := answers(t, first)
			_, _, err := get(t, New(w.options(Options{})), base)
			require.NoError(t, err)
			require.Equal(t, 1, calls())
			require.Empty(t, w.all)
		})
	}
}

func TestG30_RetriesAPostWhose200ContainsAFailureThatMayPass(t *testing.T) {
	for name, tc := range map[string]struct {
		method, body string
		waits        []time.Duration
	}{
		"a 429":                    {"POST", `{"error":{"message":"busy","code":429}}`, []time.Duration{61 * time.Second}},
		"a 502":                    {"POST", "\n \n" + `{"error":{"code":502},"user_id":"u"}`, []time.Duration{time.Second}},
		"an error that was billed": {"POST", `{"error":{"code":429},"usage":{"prompt_tokens":9}}`, nil},
		"an error of another kind": {"POST", `{"error":{"code":400}}`, nil},
		"a code of its own":        {"POST", `{"error":{"code":1302}}`, nil},
		"a file that reads so":     {"GET", `{"error":{"code":503}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w waits
			base, calls := answers(t, text(tc.body), text("fine"))
			c := New(w.options(Options{Retry: func(*http.Request) bool { return true }}))
			t.Cleanup(c.CloseIdleConnections)
			req, err := http.NewRequestWithContext(t.Context(), tc.method, base, strings.NewReader("{}"))
			require.NoError(t, err)
			resp, err := c.Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, http.StatusOK, resp.StatusCode)
			require.Equal(t, 1+len(tc.waits), calls())
			require.Equal(t, tc.waits, w.all)
		})
	}
}

func TestG30_BacksOffAndGivesUp(t *testing.T) {
	var w waits
	var why []string
	base, calls := answers(t, status(503))
	o := w.options(Options{Tries: 4})
	o.OnWait = func(_ time.Duration, reason string) { why = append(why, reason) }
	resp, _, err := get(t, New(o), base)
	require.NoError(t, err)
	require.Equal(t, 503, resp.StatusCode)
	require.Equal(t, 4, calls())
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, w.all)
	require.Equal(t, strings.TrimPrefix(base, "http://")+" answered 503", why[0])
}

func TestTotalWaitIsCapped(t *testing.T) {
	var w waits
	base, calls := answers(t, status(429, "Retry-After", "200"))
	_, _, err := get(t, New(w.options(Options{})), base)
	require.NoError(t, err)
	require.Equal(t, 2, calls(), "200 s fit into the cap once, not twice")
}

// A wait that would outlast a brief request is not begun: the answer before it stands.
func TestABriefRequestEndsWithTheLastAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		brief time.Duration
		calls int
	}{"no time to wait": {10 * time.Second, 1}, "time enough": {time.Hour, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w waits
			base, calls := answers(t, status(429, "Retry-After", "60"), status(418))
			req, err := http.NewRequestWithContext(Brief(t.Context(), c.brief), http.MethodGet, base, nil)
			require.NoError(t, err)
			resp, err := New(w.options(Options{})).Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, c.calls, calls())
			require.Equal(t, map[int]int{1: 429, 2: 418}[c.calls], resp.StatusCode)
		})
	}
}

func TestPostIsSentAgainOnlyWhenTold(t *testing.T) {
	all := func(*http.Request) bool { return true }
	for name, tc := range map[string]struct {
		retry   func(*http.Request) bool
		getBody bool
		calls   int
	}{
		"by default":                 {nil, true, 1},
		"told so":                    {all, true, 2},
		"told so, body gone by then": {all, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var w waits
			var got string
			base, calls := answers(t, status(500), func(_ http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				got = string(b)
			})
			req, err := http.NewRequest("POST", base, strings.NewReader("payload"))
			require.NoError(t, err)
			if !tc.getBody {
				req.GetBody = nil
			}
			resp, err := New(w.options(Options{Retry: tc.retry})).Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, tc.calls, calls())
			if tc.calls == 2 {
				require.Equal(t, "payload", got, "the body is sent from its start")
			}
		})
	}
}

func TestSlowAnswerEndsInTime(t *testing.T) {
	for name, write := range map[string]string{"no header": "", "slow body": "half"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if write != "" {
					io.WriteString(w, write)
					w.(http.Flusher).Flush()
				}
				<-done
			}))
			defer server.Close()
			defer close(done)
			_, _, err := get(t, New(Options{Timeout: 50 * time.Millisecond, Tries: 1}), server.URL)
			require.ErrorIs(t, err, ErrTimeout)
			require.NotErrorIs(t, err, context.DeadlineExceeded, "that one is the caller's")
		})
	}
}

func TestWhoIsNotReachedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	unknown := httptest.NewTLSServer(http.NotFoundHandler())
	unknown.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(unknown.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, c := range map[string]struct{ url, next string }{
		"unknown certificate": {unknown.URL, "SSL_CERT_FILE"},
		"no TLS":              {"https" + strings.TrimPrefix(plain.URL, "http"), "can reach that server"},
		"nobody listens":      {gone.URL, "can reach that server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := get(t, New(Options{Tries: 1}), c.url)
			require.Contains(t, problem.Of(err).Error(), c.next)
		})
	}
	other := &tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}}
	require.Contains(t, problem.Of(withAdvice(other)).Error(), "can reach that server", "no authority mends that")
	require.ErrorIs(t, withAdvice(&net.OpError{Op: "dial", Err: ErrForbidden}), ErrForbidden)
	require.NotContains(t, problem.Of(withAdvice(&net.OpError{Op: "dial", Err: ErrForbidden})).Error(), "reaches")
}

func TestCallersCancellationEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	base, calls := answers(t, func(http.ResponseWriter, *http.Request) {
		cancel()
		<-ctx.Done()
		panic(http.ErrAbortHandler)
	})
	req, err := http.NewRequestWithContext(ctx, "GET", base, nil)
	require.NoError(t, err)
	var w waits
	_, err = New(w.options(Options{})).Do(req)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, w.all)
	require.Equal(t, 1, calls())
}

func TestT31_AnswersAreBounded(t *testing.T) {
	chunked := func(w http.ResponseWriter, _ *http.Request) {
		for range 20 {
			io.WriteString(w, strings.Repeat("x", 1000))
			w.(http.Flusher).Flush()
		}
	}
	for name, h := range map[string]http.HandlerFunc{"declared": text(strings.Repeat("x", 1001)), "chunked": chunked} {
		base, calls := answers(t, h)
		_, _, err := get(t, New(Options{MaxBody: 1000}), base)
		require.ErrorIs(t, err, ErrTooLarge, name)
		require.Equal(t, 1, calls(), name)
	}
	base, _ := answers(t, text(strings.Repeat("x", 1000)))
	_, body, err := get(t, New(Options{MaxBody: 1000}), base)
	require.NoError(t, err)
	require.Len(t, body, 1000)

	req, err := http.NewRequestWithContext(LimitBody(t.Context(), 999), "GET", base, nil)
	require.NoError(t, err)
	_, err = New(Options{}).Do(req)
	require.ErrorIs(t, err, ErrTooLarge)
	require.Contains(t, problem.Of(err).Error(), "\n  next    ")
}

func TestAnAnswerThatIsNoJSONSaysWhoGaveIt(t *testing.T) {
	for name, tc := range map[string]struct {
		accept, kind, body string
		calls              int
		bad                bool
	}{
		"page as text": {"application/vnd.github.v3+json", "text/plain", "<html>", 2, true},
		"cut":          {"application/json", "application/json", `{"id":`, 2, true},
		"JSON":         {"application/json", "application/json", ` {"id":1} `, 1, false},
		"empty":        {"application/json", "application/json", "", 1, false},
		"page":         {"application/json", "text/html; charset=utf-8", "<html>", 2, false},
		"raw":          {"application/vnd.github.raw+json", "text/plain", "<html>", 1, false},
		"anything":     {"", "text/plain", "<html>", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, calls := answers(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.kind)
				w.WriteHeader(203)
				io.WriteString(w, tc.body)
			})
			req, err := http.NewRequest("GET", base, nil)
			require.NoError(t, err)
			req.Header.Set("Accept", tc.accept)
			var w waits
			body, err := Do(New(w.options(Options{})), req)
			require.Equal(t, tc.calls, calls())
			if !tc.bad {
				require.NoError(t, err)
				require.Equal(t, tc.body, string(body))
				return
			}
			require.ErrorIs(t, err, ErrNotJSON)
			require.ErrorContains(t, err, "what came back is not JSON: "+strings.TrimPrefix(base, "http://")+
				" answered 203")
		})
	}
}

func TestUserAgentIsSent(t *testing.T) {
	base, _ := answers(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.UserAgent()) })
	_, body, err := get(t, New(Options{UserAgent: "us/1"}), base)
	require.NoError(t, err)
	require.Equal(t, "us/1", body)
}
