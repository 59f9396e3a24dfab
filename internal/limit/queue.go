package limit

import (
	"context"
	"slices"
	"time"
)

// waiter is a call that has not begun.
type waiter struct {
	tokens float64
	poke   context.CancelFunc // ends its wait, so that it looks again
}

// attempt is what came of a waiter's look: a call that began, an error, or a wait.
type attempt struct {
	call *call
	err  error
	wait time.Duration // never is until somebody pokes
	why  string        // empty for waits that are no news
}

const never = time.Duration(-1)

// worthSaying is the wait from which on OnWait hears of it.
const worthSaying = 5 * time.Second

// attempt lets the first of the queue begin if it may. The context returned ends
// when the waiter should look again.
func (l *Limiter) attempt(ctx context.Context, w *waiter) (attempt, context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.poke != nil { // of the look before: it would hang on the parent until the request ends
		w.poke()
	}
	now := l.o.Now()
	trial, down := l.fuse.check(now)
	err := ctx.Err()
	if err == nil {
		err = down
	}
	if err != nil {
		l.leave(w)
		return attempt{err: err}, nil
	}
	a := attempt{wait: never}
	if l.queue[0] == w && l.open < l.pace.open() {
		a.wait, a.why = l.delay(w, now)
	}
	if a.wait == 0 {
		l.leave(w)
		a.call = l.start(w, now, trial)
		return a, nil
	}
	if a.wait < worthSaying || !now.Add(a.wait).After(l.told) {
		a.why = ""
	} else {
		l.told = now.Add(a.wait)
	}
	round, cancel := context.WithCancel(ctx)
	w.poke = cancel
	return a, round
}

// delay is how long the pace and the limits told ask a waiter to wait.
func (l *Limiter) delay(w *waiter, now time.Time) (wait time.Duration, why string) {
	wait, why = l.pace.wait(now), "the server asked for fewer calls"
	for _, b := range []*bucket{&l.requests, &l.tokens} {
		need := 1.0
		if b == &l.tokens {
			need = w.tokens
		}
		if d := b.wait(now, need); d > wait {
			wait, why = d, "the server's limit is used up"
		}
	}
	return wait, why
}

func (l *Limiter) start(w *waiter, now time.Time, trial bool) *call {
	l.open++
	l.started++
	l.pace.start(now, l.o.Jitter())
	if trial {
		l.fuse.trial = true
	}
	return &call{number: l.started, at: now, trial: trial, requests: l.requests.charge(1, now), tokens: l.tokens.charge(w.tokens, now)}
}

// leave takes a waiter out of the queue and lets the next one look.
func (l *Limiter) leave(w *waiter) {
	l.queue = slices.DeleteFunc(l.queue, func(q *waiter) bool { return q == w })
	if w.poke != nil {
		w.poke()
	}
	l.wake(false)
}

// wake lets the first waiter look again, or all of them.
func (l *Limiter) wake(all bool) {
	for i, w := range l.queue {
		if (i == 0 || all) && w.poke != nil {
			w.poke()
		}
	}
}

// wait waits for a round's end or for the time that an attempt asks.
func (l *Limiter) wait(round context.Context, a attempt) {
	if a.wait == never {
		<-round.Done()
		return
	}
	if a.why != "" {
		l.o.OnWait(a.wait, a.why)
	}
	_ = l.o.Sleep(round, a.wait) // cut short or not, the next look tells
}
