// Package transport is the only way to the network: all other clients of this program are built on its HTTP client.
//
// It bounds time and size, retries what may be retried, and keeps requests and credentials on the host they were
// meant for. It only checks whether an answer has the requested form, and holds no credentials itself. Start at
// Options and New.
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
	githubWait     = time.Minute // GitHub asks for at least that if it names no time

	connectTimeout = 10 * time.Second
	maxRedirects   = 5
	// maxWait bounds the sum of a request's waits: a runner is paid by the minute, and a spent hourly limit is no
	// reason to hold it.
	maxWait = 5 * time.Minute
)

// ErrRedirect reports a redirect that was not followed: to another host, from https to http, one that would turn a POST
// into a GET, or one too many.
var ErrRedirect = problem.Sentinel("redirect refused", "name the address that it leads to, if you trust it")

// Options configures a client. The zero value is usable.
type Options struct {
	UserAgent string
	Timeout   time.Duration // of one try, the answer's body included; a minute if zero
	Tries     int           // maximum, the first included; 5 if zero
	AllowHTTP bool          // plain http to hosts other than loopback
	// the wait after the first failure is a random part of Backoff, doubled with each further one; 2 s if zero
	Backoff time.Duration
	Retry   func(*http.Request) bool // which requests may be sent again; GET and HEAD if nil
	Sleep   func(ctx context.Context, d time.Duration) error
	Jitter  func() float64                    // in [0, 1)
	MaxBody int64                             // bytes of an answer, decompressed; 32 MiB if zero
	OnWait  func(d time.Duration, why string) // called before each wait, with our own words

	// Stream returns each answer as it arrives, within Timeout and MaxBody. It makes one try, and calls no hooks of
	// EachTry.
	Stream bool

	// LimitWait is the least wait after a rate limit that names no time. It doubles with each further one, up to
	// eightfold; a minute if zero, which is GitHub's rule. LimitTries replaces Tries for rate-limited requests;
	// Tries if zero.
	LimitWait  time.Duration
	LimitTries int
}

// New returns a client. It takes proxies from HTTPS_PROXY and NO_PROXY and certificate authorities from the system
// or SSL_CERT_FILE, follows redirects only on the same host, and reads each whole answer before it returns it, so
// that a connection lost half way is retried like any other. Its errors are those of Refused, ErrRedirect,
// ErrTooLarge, ErrTimeout, ErrNotJSON or the network's own, each in a *url.Error: see Clean. An answer of any status
// is not an error here: see Status.
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

// Idempotent is the default of Options.Retry. It reports whether a request only reads.
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
	case next.URL.Host != first.Host, next.URL.Scheme != first.Scheme, next.Method != via[0].Method:
		return fmt.Errorf("%w: from %s %s://%s to %s %s://%s", ErrRedirect, via[0].Method, first.Scheme, first.Host,
			next.Method, next.URL.Scheme, next.URL.Host)
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: more than %d on %s", ErrRedirect, maxRedirects, first.Host)
	}
	return nil
}

// fasterKey is the context key for how many times faster Sleep is.
type fasterKey struct{}

// Faster makes every Sleep under a context shorter by a factor, for tests that wait for what a server shows late.
func Faster(ctx context.Context, times int) context.Context {
	return context.WithValue(ctx, fasterKey{}, times)
}

// Sleep waits for a duration or for the context's end, whose error it returns. It is the default of Options.Sleep.
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
