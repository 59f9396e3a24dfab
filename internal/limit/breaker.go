package limit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/transport"
)

// ErrDown reports that a server failed so often in a row that it was not called again.
var ErrDown = errors.New("the server fails every call")

// DownError wraps ErrDown with the reason.
type DownError struct {
	Failures int   // in a row, with no successful call between them
	Cause    error // of the last one: a *transport.StatusError without the server's text, or a connection error
}

// Error names the number of failures and the last one's cause.
func (e *DownError) Error() string {
	return fmt.Sprintf("%v, so it was not asked again: failures in a row: %d, the last was: %v", ErrDown, e.Failures,
		e.Cause)
}

// Unwrap returns ErrDown and the cause.
func (e *DownError) Unwrap() []error { return []error{ErrDown, e.Cause} }

const (
	// tripWeight is the weight of consecutive failures that trips the breaker. It is more
	// than one file that the server cannot handle weighs: three calls of five attempts.
	tripWeight = 16
	// certainWeight is the weight of a failure that will recur: the connection or the key is refused.
	certainWeight = 2

	firstCooldown, longestCooldown = 5 * time.Second, time.Minute
	// longestNamed is the longest requested wait that is honored, as in transport.
	longestNamed = 5 * time.Minute
	// maxRefusals calls in a row, over at least refusedFor, must be rate limited before
	// the server counts as down.
	maxRefusals = 30
	refusedFor  = 2 * time.Minute
	maxBody     = 64 << 10
)

// breaker is a circuit breaker: it fails calls at once while the server is down.
// After a cool-down it lets one trial call through.
type breaker struct {
	weight, failures int
	refusals         int       // due to rate limits, with no successful call between them
	refusedSince     time.Time // the time of the first of them
	cause            error     // nil while the circuit is closed
	cooldown         time.Duration
	until            time.Time
	trial            bool // the trial call is under way
}

// outcome is what the end of a call says about the server as a whole: success, failure with a weight, or neither.
type outcome struct {
	passed bool
	rate   bool // rate limited: has no weight, unless there was nothing else for long
	weight int
	cause  error
}

func (b *breaker) error() error { return &DownError{Failures: b.failures, Cause: b.cause} }

// check returns an error if a call may not begin, otherwise whether it is the trial call.
func (b *breaker) check(now time.Time) (trial bool, err error) {
	switch {
	case b.cause == nil:
		return false, nil
	case b.trial || now.Before(b.until):
		return false, b.error()
	}
	return true, nil
}

// record updates the breaker with the outcome of a call.
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

// refused counts a rate-limited call, and reports whether there have been only such calls for long.
func (b *breaker) refused(now time.Time) bool {
	if b.refusals++; b.refusals == 1 {
		b.refusedSince = now
	}
	return b.refusals >= maxRefusals && now.Sub(b.refusedSince) >= refusedFor
}

// outcomeOf returns the outcome of a call. A 400 or 404 concerns the call alone, and so does a single
// 429, and a request that is too large for the account.
func outcomeOf(resp *http.Response, said []byte, err error, named time.Duration) outcome {
	switch {
	case errors.Is(err, transport.ErrNotBegun), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, transport.ErrTooLarge), err == nil && resp == nil,
		transport.Oversized(said):
		return outcome{}
	case err != nil && transport.Sent(err):
		return outcome{weight: 1, cause: err}
	case err != nil:
		return outcome{weight: certainWeight, cause: err}
	case named > longestNamed:
		return outcome{weight: tripWeight, cause: causeOf(resp)}
	}
	switch code := resp.StatusCode; {
	case code/100 == 2:
		return outcome{passed: true}
	case code == http.StatusUnauthorized || code == http.StatusPaymentRequired || code == http.StatusForbidden:
		return outcome{weight: certainWeight, cause: causeOf(resp)}
	case code == http.StatusTooManyRequests:
		return outcome{weight: tripWeight, cause: causeOf(resp), rate: !transport.OutOfFunds(said)}
	case code >= 500:
		return outcome{weight: 1, cause: causeOf(resp)}
	}
	return outcome{}
}

// causeOf omits the server's text, which may repeat the key.
func causeOf(resp *http.Response) error {
	silent := *resp
	silent.Body = http.NoBody
	return transport.Status(&silent)
}

// refusalOf returns the text of an answer that is about the account or the server's load.
func refusalOf(resp *http.Response) []byte {
	if resp == nil || !slices.Contains([]int{http.StatusPaymentRequired, http.StatusTooManyRequests,
		http.StatusServiceUnavailable, statusOverloaded}, resp.StatusCode) {
		return nil
	}
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody)) // a partial body is searched too
	return said
}
