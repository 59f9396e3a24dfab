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
	return fmt.Sprintf("%v, so it was not asked again: %d failures in a row, the last was: %v", ErrDown, e.Failures, e.Cause)
}

// Unwrap returns ErrDown and the cause.
func (e *DownError) Unwrap() []error { return []error{ErrDown, e.Cause} }

const (
	// blows is the weight of failures in a row that blows the fuse. It is above
	// what one file weighs that the server cannot take: three calls of five tries.
	blows = 16
	// certain is the weight of a failure that the next call will see too: nobody
	// listens, or the key is refused.
	certain = 2

	firstRest, longestRest = 5 * time.Second, time.Minute
	// longestNamed is the longest wait that is waited for; transport keeps to the same.
	longestNamed = 5 * time.Minute
	// unheard and unheardFor are how often in a row, and over how long, every call is
	// refused for its rate before the server counts as down.
	unheard    = 30
	unheardFor = 2 * time.Minute
	maxBody    = 64 << 10
)

// fuse fails calls at once while the server is down. After a rest it lets one
// call find out.
type fuse struct {
	weight, failures int
	refusals         int       // for their rate, with no call passing between them
	refusedSince     time.Time // the first of them
	cause            error     // nil while the fuse holds
	rest             time.Duration
	until            time.Time
	trial            bool // a call is finding out
}

// outcome is what a call's end says about the server as a whole: it passed, it
// failed with some weight, or neither.
type outcome struct {
	passed bool
	rate   bool // refused for its rate: it weighs nothing, unless there is nothing else for long
	weight int
	cause  error
}

func (f *fuse) blown() bool { return f.cause != nil }

// check returns the error of a call that may not begin, or whether it is the one
// that finds out.
func (f *fuse) check(now time.Time) (trial bool, err error) {
	switch {
	case f.cause == nil:
		return false, nil
	case f.trial || now.Before(f.until):
		return false, &DownError{Failures: f.failures, Cause: f.cause}
	}
	return true, nil
}

// record takes in a call's end.
func (f *fuse) record(c *call, o outcome, now time.Time) {
	if c.trial {
		f.trial = false
	}
	if o.cause != nil {
		f.failures++
	}
	switch {
	case o.passed:
		*f = fuse{trial: f.trial}
	case o.rate && !f.unheard(now):
	case o.cause != nil:
		f.weight += o.weight
		if f.weight < blows || f.blown() && !c.trial {
			return
		}
		f.rest = min(max(f.rest*2, firstRest), longestRest)
		f.cause, f.until = o.cause, now.Add(f.rest)
	}
}

// unheard counts a refusal for its rate, and tells whether there was nothing but
// such refusals for long.
func (f *fuse) unheard(now time.Time) bool {
	if f.refusals++; f.refusals == 1 {
		f.refusedSince = now
	}
	return f.refusals >= unheard && now.Sub(f.refusedSince) >= unheardFor
}

// outcomeOf reads a call's end. A 400 or a 404 is about the call, and so is a 429 among others.
func outcomeOf(resp *http.Response, err error, named time.Duration) outcome {
	switch {
	case err != nil:
		return failure(err)
	case resp == nil:
		return outcome{}
	case named > longestNamed || resp.StatusCode == http.StatusTooManyRequests && outOfFunds(resp):
		return status(resp, blows)
	}
	switch code := resp.StatusCode; {
	case code/100 == 2:
		return outcome{passed: true}
	case code == http.StatusUnauthorized || code == http.StatusPaymentRequired || code == http.StatusForbidden:
		return status(resp, certain)
	case code == http.StatusTooManyRequests:
		o := status(resp, blows)
		o.rate = true
		return o
	case code >= 500:
		return status(resp, 1)
	}
	return outcome{}
}

func failure(err error) outcome {
	ours := errors.Is(err, transport.ErrNotBegun) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
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
