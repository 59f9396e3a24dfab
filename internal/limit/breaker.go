package limit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/org/pr-review-action/internal/transport"
)

// ErrDown is that a server failed so often in a row that it was not asked again.
var ErrDown = errors.New("the server fails every call")

// DownError is an ErrDown with its reason.
type DownError struct {
	Failures int   // in a row, with no call passing between them
	Cause    error // of the last one: a *transport.StatusError without the server's words, or the connection's
}

// Error names the number of failures and the last one's cause.
func (e *DownError) Error() string {
	if e.Failures == 1 {
		return fmt.Sprintf("%v, so it was not asked again: %v", ErrDown, e.Cause)
	}
	return fmt.Sprintf("%v, so it was not asked again: %d failures in a row, the last was: %v", ErrDown, e.Failures,
		e.Cause)
}

// Unwrap returns ErrDown and the cause.
func (e *DownError) Unwrap() []error { return []error{ErrDown, e.Cause} }

const (
	// tripWeight is the weight of failures in a row that trips the breaker. It is
	// above what one file weighs that the server cannot take: three calls of five tries.
	tripWeight = 16
	// certain is the weight of a failure that the next call will see too: nobody listens, or the key is refused.
	certain = 2

	firstCooldown, longestCooldown = 5 * time.Second, time.Minute
	// longestNamed is the longest wait that is waited for; transport keeps to the same.
	longestNamed = 5 * time.Minute
	// maxRefusals and refusedFor are how often in a row, and over how long, every
	// call is refused for its rate before the server counts as down.
	maxRefusals = 30
	refusedFor  = 2 * time.Minute
	maxBody     = 64 << 10
)

// breaker is a circuit breaker: it fails calls at once while the server is down.
// After a cool-down it lets one call find out.
type breaker struct {
	weight, failures int
	refusals         int       // for their rate, with no call passing between them
	refusedSince     time.Time // the first of them
	cause            error     // nil while the circuit is closed
	cooldown         time.Duration
	until            time.Time
	trial            bool // a call is finding out
}

// outcome is what a call's end says about the server as a whole: it passed, it failed with some weight, or neither.
type outcome struct {
	passed bool
	rate   bool // refused for its rate: it weighs nothing, unless there is nothing else for long
	weight int
	cause  error
}

func (b *breaker) error() error { return &DownError{Failures: b.failures, Cause: b.cause} }

// check returns the error of a call that may not begin, or whether it is the one that finds out.
func (b *breaker) check(now time.Time) (trial bool, err error) {
	switch {
	case b.cause == nil:
		return false, nil
	case b.trial || now.Before(b.until):
		return false, b.error()
	}
	return true, nil
}

// record takes in a call's end.
func (b *breaker) record(c *call, o outcome, now time.Time) {
	if c.trial {
		b.trial = false
	}
	if o.cause != nil {
		b.failures++
	}
	switch {
	case o.passed:
		*b = breaker{trial: b.trial}
	case o.rate && !b.refused(now):
	case o.cause != nil:
		b.weight += o.weight
		if b.weight < tripWeight || b.cause != nil && !c.trial {
			return
		}
		b.cooldown = min(max(b.cooldown*2, firstCooldown), longestCooldown)
		b.cause, b.until = o.cause, now.Add(b.cooldown)
	}
}

// refused counts a refusal for its rate, and tells whether there was nothing but such refusals for long.
func (b *breaker) refused(now time.Time) bool {
	if b.refusals++; b.refusals == 1 {
		b.refusedSince = now
	}
	return b.refusals >= maxRefusals && now.Sub(b.refusedSince) >= refusedFor
}

// outcomeOf reads a call's end. A 400 or a 404 is about the call, and so is a 429 among others.
func outcomeOf(resp *http.Response, err error, named time.Duration) outcome {
	switch {
	case err != nil:
		return failure(err)
	case resp == nil:
		return outcome{}
	case named > longestNamed || resp.StatusCode == http.StatusTooManyRequests && outOfFunds(resp):
		return status(resp, tripWeight)
	}
	switch code := resp.StatusCode; {
	case code/100 == 2:
		return outcome{passed: true}
	case code == http.StatusUnauthorized || code == http.StatusPaymentRequired || code == http.StatusForbidden:
		return status(resp, certain)
	case code == http.StatusTooManyRequests:
		o := status(resp, tripWeight)
		o.rate = true
		return o
	case code >= 500:
		return status(resp, 1)
	}
	return outcome{}
}

func failure(err error) outcome {
	ours := errors.Is(err, transport.ErrNotBegun) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
	switch {
	case ours || errors.Is(err, transport.ErrTooLarge):
		return outcome{}
	case transport.Sent(err):
		return outcome{weight: 1, cause: err}
	}
	return outcome{weight: certain, cause: err}
}

// status leaves the server's words out: they may repeat the key.
func status(resp *http.Response, weight int) outcome {
	if resp.Request == nil {
		return outcome{weight: weight, cause: &transport.StatusError{Code: resp.StatusCode}}
	}
	silent := *resp
	silent.Body = http.NoBody
	return outcome{weight: weight, cause: transport.Status(&silent)}
}

// outOfFunds tells an account without money from a rate.
func outOfFunds(resp *http.Response) bool {
	if resp.Body == nil {
		return false
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody)) // what is there is looked at
	return bytes.Contains(body, []byte(`"insufficient_quota"`))
}
