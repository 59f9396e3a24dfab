// Package limit keeps the calls of one run within what their server accepts.
//
// One Limiter is in front of all calls to one server. It bounds how many are open, paces them by the limits that
// answers report (quota.go) or by refusals (pace.go), holds all of them when the server asks to retry later, and
// fails them at once while the server is down (breaker.go). It sends nothing and repeats nothing. Start reading
// at Limiter.Begin.
package limit

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/org/pr-review-action/internal/transport"
)

const (
	defaultConcurrency = 8
	minReportedWait    = 5 * time.Second // shortest wait reported to OnWait
)

// Options configure a limiter. The zero value is usable.
type Options struct {
	Concurrency int            // calls open at one time; 8 if zero
	Jitter      func() float64 // in [0, 1)
	// called before waits of five seconds or more caused by a server's limits; why is our own text
	OnWait func(d time.Duration, why string)
}

// Limiter admits calls to one server. It is safe for concurrent use.
type Limiter struct {
	o     Options
	slots *semaphore.Weighted // for open calls, first come, first served
	turn  *semaphore.Weighted // held by the call that waits for the server's pace

	mu        sync.Mutex
	started   int64         // number of calls so far, and thus the number of the latest
	changed   chan struct{} // closed when an answer changes what the call with the turn waits for
	requests  quota
	tokens    quota
	pace      pace
	breaker   breaker
	waiting   map[*context.CancelFunc]bool // cancels the calls that have not begun
	toldUntil time.Time                    // end of the last wait reported to OnWait
}

// call is a call that was admitted.
type call struct {
	number int64
	at     time.Time

	requests, tokens charge
	trial, ended     bool // it tests whether the server is up again; it is over
}

// New returns a limiter.
func New(o Options) *Limiter {
	o.Concurrency = max(cmp.Or(o.Concurrency, defaultConcurrency), 1)
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.OnWait == nil {
		o.OnWait = func(time.Duration, string) {}
	}
	return &Limiter{
		o: o, slots: semaphore.NewWeighted(int64(o.Concurrency)), turn: semaphore.NewWeighted(1),
		changed: make(chan struct{}),
		waiting: map[*context.CancelFunc]bool{},
	}
}

// Begin waits until a call may start, first come, first served. tokens is the most that the server may count for it,
// input and output limit together; 0 if unknown. Call end with the response, after its body was read, or the error;
// Begin fits transport.EachTry. Errors are the context's and *DownError.
func (l *Limiter) Begin(ctx context.Context, tokens int64) (end func(*http.Response, error), err error) {
	waiting, stop := l.untilDown(ctx)
	defer stop()
	if l.slots.Acquire(waiting, 1) != nil {
		return nil, l.waitError(ctx)
	}
	if l.turn.Acquire(waiting, 1) != nil {
		l.slots.Release(1)
		return nil, l.waitError(ctx)
	}
	c, err := l.start(ctx, float64(max(tokens, 0)))
	l.turn.Release(1)
	if err != nil {
		l.slots.Release(1)
		return nil, err
	}
	return func(resp *http.Response, err error) { l.end(c, resp, err) }, nil
}

// untilDown returns a context that also ends when the circuit breaker trips.
func (l *Limiter) untilDown(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[&cancel] = true
	return ctx, func() {
		cancel()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.waiting, &cancel)
	}
}

// waitError returns the reason why a wait ended: the context's error, or that the server is down.
func (l *Limiter) waitError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.breaker.error()
}

// start waits for the server's pace. Only the holder of turn may call it.
func (l *Limiter) start(ctx context.Context, tokens float64) (*call, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, wait, err := l.try(tokens)
		if c != nil || err != nil {
			return c, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-l.answers():
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (l *Limiter) answers() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// try starts a call if it may start now; otherwise it returns how long to wait.
func (l *Limiter) try(tokens float64) (*call, time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	trial, err := l.breaker.check(now)
	if err != nil {
		return nil, 0, err
	}
	wait, why := l.pace.wait(now), "the server asked for fewer calls"
	if d := max(l.requests.wait(now, 1), l.tokens.wait(now, tokens)); d > wait {
		wait, why = d, "the server's limit is used up"
	}
	if wait > 0 {
		if until := now.Add(wait); wait >= minReportedWait && wait < untilAnswer && until.After(l.toldUntil) {
			l.toldUntil = until
			l.o.OnWait(wait, why)
		}
		return nil, wait, nil
	}
	l.started++
	l.pace.start(now)
	l.breaker.trial = l.breaker.trial || trial
	return &call{number: l.started, at: now, trial: trial, requests: l.requests.take(now, 1),
		tokens: l.tokens.take(now, tokens)}, 0, nil
}

// end updates the limiter with the answer of a call and lets others begin.
func (l *Limiter) end(c *call, resp *http.Response, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	l.slots.Release(1)
	now := time.Now()
	said := refusalOf(resp)
	named, refused := retryLater(resp, said, now)
	passed := resp != nil && resp.StatusCode/100 == 2
	if resp != nil {
		l.requests.observe(c.number, c.at, c.requests, readReport(resp.Header, requestHeaders, c.at), passed, refused)
		l.tokens.observe(c.number, c.at, c.tokens, readReport(resp.Header, tokenHeaders, c.at), passed, refused)
	}
	switch {
	case refused:
		l.pace.refused(refusal{number: c.number, last: l.started, now: now, named: named,
			full: max(l.requests.untilFull(now), l.tokens.untilFull(now)), jitter: l.o.Jitter()})
	case passed:
		l.pace.passed(c.number, now)
	}
	if l.breaker.record(c, outcomeOf(resp, said, err, named), now); l.breaker.cause != nil {
		for cancel := range l.waiting {
			(*cancel)()
		}
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// retryLater reports whether an answer asks to retry later, and after how long; 0 if it names no time.
func retryLater(resp *http.Response, said []byte, now time.Time) (named time.Duration, refused bool) {
	if resp == nil || transport.Oversized(said) {
		return 0, false
	}
	named = transport.RetryAfter(resp.Header, said, now)
	busy := resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == statusOverloaded
	return named, resp.StatusCode == http.StatusTooManyRequests || busy && named > 0
}

// statusOverloaded is how some model servers report overload by all their customers together.
const statusOverloaded = 529
