package graph

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"
)

const (
	defaultBase = 500 * time.Millisecond
	defaultMax  = 30 * time.Second
)

// Transient marks an error as worth a retry, not sooner than after (zero where
// the server did not say). A nil error stays nil.
func Transient(err error, after time.Duration) error {
	if err == nil {
		return nil
	}
	return &transientError{err, after}
}

type transientError struct {
	err   error
	after time.Duration
}

func (e *transientError) Error() string { return e.err.Error() }
func (e *transientError) Unwrap() error { return e.err }

// next says whether to try again after a failed try, counted from 1, and after
// which wait: exponential with jitter, or what the server asked for if longer.
func (p *Policy) next(err error, try int, random func() float64) (time.Duration, bool) {
	marked, ok := errors.AsType[*transientError](err)
	if p == nil || !ok || try >= p.Tries {
		return 0, false
	}
	base, longest := cmp.Or(p.Base, defaultBase), cmp.Or(p.Max, defaultMax)
	if marked.after > longest {
		return 0, false
	}
	wait := time.Duration(min(float64(base)*math.Exp2(float64(try-1)), float64(longest)))
	wait = wait/2 + time.Duration(random()*float64(wait/2))
	return max(wait, marked.after), true
}

// sleep waits, or returns the context's error when that comes first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
