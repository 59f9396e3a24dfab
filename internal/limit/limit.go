// Package limit keeps the calls of one run within what their server takes.
//
// One Limiter stands before all calls to one server. It bounds how many are
// open, paces them by the limits that answers tell of, holds all of them while
// the server says later, and fails them at once while the server is down. It
// sends nothing, repeats nothing and reads headers alone. Start at
// Limiter.Begin; bucket.go paces by headers, pace.go without them.
package limit

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/transport"
)

const defaultConcurrency = 8

// Options say how a limiter behaves. The zero value is usable.
type Options struct {
	Concurrency int // calls open at one time; 8 when zero
	Now         func() time.Time
	Sleep       func(ctx context.Context, d time.Duration) error
	Jitter      func() float64                    // in [0, 1)
	OnWait      func(d time.Duration, why string) // before waits of five seconds and more that a server's limits cause, in our own words
}

// Limiter lets calls to one server begin. It may be used from many goroutines.
type Limiter struct {
	o Options

	mu       sync.Mutex
	open     int
	started  int64 // calls so far; a call's number is its place in that order
	queue    []*waiter
	requests bucket
	tokens   bucket
	pace     pace
	fuse     fuse
	told     time.Time // the end of the wait that OnWait heard of last
}

// call is one call that was let through.
type call struct {
	number int64
	at     time.Time

	requests, tokens spent
	trial            bool // it finds out whether the server is up again
	ended            bool
}

// New makes a limiter.
func New(o Options) *Limiter {
	o.Concurrency = max(cmp.Or(o.Concurrency, defaultConcurrency), 1)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = transport.Sleep
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.OnWait == nil {
		o.OnWait = func(time.Duration, string) {}
	}
	return &Limiter{o: o, pace: pace{most: float64(o.Concurrency), allowed: float64(o.Concurrency)}, requests: bucket{least: 1.25, floor: 1}, tokens: bucket{least: 0.05, floor: 0.05, margin: 0.25}}
}

// Begin waits until a call may start, first come, first served. Tokens is the
// most that the server may count for it: input and output limit; 0 where
// unknown. End must be called with the answer, whose body was read, or
// the error; it fits transport.EachTry. Errors are the context's and *DownError.
func (l *Limiter) Begin(ctx context.Context, tokens int64) (end func(*http.Response, error), err error) {
	w := &waiter{tokens: float64(max(tokens, 0))}
	l.mu.Lock()
	l.queue = append(l.queue, w)
	l.mu.Unlock()
	for {
		attempt, round := l.attempt(ctx, w)
		switch {
		case attempt.err != nil:
			return nil, attempt.err
		case attempt.call != nil:
			return func(resp *http.Response, err error) { l.end(attempt.call, resp, err) }, nil
		}
		l.wait(round, attempt)
	}
}

// end takes the answer of a call into account and lets others begin.
func (l *Limiter) end(c *call, resp *http.Response, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	l.open--
	now := l.o.Now()
	named, refused := later(resp, now)
	passed := resp != nil && resp.StatusCode/100 == 2
	if resp != nil {
		l.requests.observe(word{number: c.number, at: c.at, spent: c.requests}, read(resp.Header, requestHeaders, c.at), refused)
		l.tokens.observe(word{number: c.number, at: c.at, spent: c.tokens}, read(resp.Header, tokenHeaders, c.at), refused)
	}
	l.requests.answered(c.number, c.requests, passed, refused)
	l.tokens.answered(c.number, c.tokens, passed, refused)
	switch {
	case refused:
		held := named
		if held > longestNamed {
			held = 0 // nobody waits that long; the fuse ends the run where no call passes
		}
		l.pace.refused(refusal{
			number: c.number, last: l.started, at: c.at, now: now, named: held, told: l.requests.known || l.tokens.known, jitter: l.o.Jitter(),
		})
	case passed:
		l.pace.passed()
	}
	l.fuse.record(c, outcomeOf(resp, err, named), now)
	l.wake(l.fuse.blown())
}

// later tells an answer that asks to come later, and how much; 0 where it names no time.
func later(resp *http.Response, now time.Time) (named time.Duration, refused bool) {
	if resp == nil {
		return 0, false
	}
	named = transport.RetryAfter(resp.Header, now)
	busy := resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == statusOverloaded
	return named, resp.StatusCode == http.StatusTooManyRequests || busy && named > 0
}

// statusOverloaded is what some model servers answer when all their customers
// together ask too much.
const statusOverloaded = 529
