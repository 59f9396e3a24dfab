// Package transport is the one way out to the network: the HTTP client that
// every other client of this program is built over.
//
// It bounds time and size, retries what may be retried, and keeps requests and
// credentials on the host they were meant for. It reads of an answer whether it
// is of the form asked for and no more, and holds no credentials of its own. Start at Options and New.
package transport

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/org/pr-review-action/internal/problem"
)

const (
	defaultTimeout = 60 * time.Second
	defaultTries   = 5
	defaultMaxBody = 32 << 20
	defaultBackoff = 2 * time.Second
	githubWait     = time.Minute // GitHub asks for at least that where it names no time

	connectTimeout = 10 * time.Second
	maxRedirects   = 5
	// maxWait bounds what one request may wait between its tries, all told: a runner is paid by the minute, and a
	// spent hourly limit is no reason to hold it.
	maxWait = 5 * time.Minute
)

// ErrRedirect is a redirect that was not followed: to another host, from https to http, or one too many.
var ErrRedirect = problem.Sentinel("redirect refused", "name the address that it leads to, if you trust it")

// Options says how a client behaves. The zero value is usable.
type Options struct {
	UserAgent string
	Timeout   time.Duration // of one try, the answer's body included; a minute when zero
	Tries     int           // at most, the first included; 5 when zero
	AllowHTTP bool          // plain http to hosts other than loopback
	// the wait after a first failure is a random part of it, doubled with each more; 2 s when zero
	Backoff time.Duration
	Retry   func(*http.Request) bool // which requests may be sent again; GET and HEAD when nil
	Sleep   func(ctx context.Context, d time.Duration) error
	Jitter  func() float64                    // in [0, 1)
	MaxBody int64                             // bytes of an answer, unpacked; 32 MiB when zero
	OnWait  func(d time.Duration, why string) // before each wait, in our own words

	// Stream hands each answer on as it comes, within Timeout and MaxBody. Then
	// there is one try, and hooks of EachTry are not called.
	Stream bool

	// LimitWait is waited at least after a rate limit that names no time, doubled
	// with each more up to eight times of it; a minute when zero, which is GitHub's
	// rule. LimitTries is Tries for requests that a rate limit turned away; Tries when zero.
	LimitWait  time.Duration
	LimitTries int
}

// New makes a client. It takes proxies from HTTPS_PROXY and NO_PROXY and certificate authorities from the system or
// SSL_CERT_FILE, follows redirects on the same host alone, and reads each answer whole before handing it on, so that
// a connection lost half way is retried like any other. Its errors are those of Refused, ErrRedirect, ErrTooLarge,
// ErrTimeout, ErrNotJSON or the network's own, each in a *url.Error: see Clean. An answer of any status
// is no error here: see Status.
func New(o Options) *http.Client {
	o = o.withDefaults()
	return &http.Client{
		Transport:     &retrying{options: o, base: newBase()},
		CheckRedirect: checkRedirect,
	}
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.Tries = cmp.Or(o.Tries, defaultTries)
	o.MaxBody = cmp.Or(o.MaxBody, defaultMaxBody)
	o.Backoff = cmp.Or(o.Backoff, defaultBackoff)
	o.LimitWait = cmp.Or(o.LimitWait, githubWait)
	o.LimitTries = cmp.Or(o.LimitTries, o.Tries)
	if o.Retry == nil {
		o.Retry = Idempotent
	}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.OnWait == nil {
		o.OnWait = func(time.Duration, string) {}
	}
	return o
}

// Idempotent is the default of Options.Retry: reading requests alone.
func Idempotent(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

func newBase() *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, Control: refuseForbidden}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connectTimeout,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    16,
		MaxResponseHeaderBytes: 1 << 20,
		ForceAttemptHTTP2:      true,
	}
}

func checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case next.URL.Host != first.Host:
		return fmt.Errorf("%w: from %s to another host, %s", ErrRedirect, first.Host, next.URL.Host)
	case next.URL.Scheme != first.Scheme:
		return fmt.Errorf("%w: from %s to %s on %s", ErrRedirect, first.Scheme, next.URL.Scheme, first.Host)
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: more than %d on %s", ErrRedirect, maxRedirects, first.Host)
	}
	return nil
}

// fasterKey holds how many times faster time passes for Sleep.
type fasterKey struct{}

// Faster makes every Sleep under a context so many times shorter: for tests in
// which somebody waits for what a server shows late.
func Faster(ctx context.Context, times int) context.Context {
	return context.WithValue(ctx, fasterKey{}, times)
}

// Sleep waits for a time or for the context's end, whose error it returns. It is the default of Options.Sleep.
func Sleep(ctx context.Context, d time.Duration) error {
	if times, ok := ctx.Value(fasterKey{}).(int); ok {
		d /= time.Duration(times)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
