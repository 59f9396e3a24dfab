package ticketcontext

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/transport"
)

const (
	tries         = 3
	firstWait     = 500 * time.Millisecond
	maxRetryAfter = 10 * time.Second
)

// retry is the one rule by which tickets and pages are asked for again: three
// tries, each within the limit of a call, with waits that double and are in part
// random, or as long as the server asks, up to 10 s. What will not change is not
// asked again, and neither is what took a whole call's time. Nothing below it
// repeats a request.
type retry struct {
	limit  time.Duration // of a call
	sleep  func(context.Context, time.Duration) error
	jitter func() float64
}

func newRetry(o Options) retry {
	r := retry{limit: o.CallLimit, sleep: o.Sleep, jitter: o.Jitter}
	if r.sleep == nil {
		r.sleep = transport.Sleep
	}
	if r.jitter == nil {
		r.jitter = rand.Float64
	}
	return r
}

// do calls until it works or nothing is left to try, and gives the last failure.
func (r retry) do(ctx context.Context, call func(context.Context) error) *atlassian.Failure {
	for try := 1; ; try++ {
		failed := r.once(ctx, call)
		if failed == nil || !failed.Temporary || try == tries {
			return failed
		}
		wait := firstWait << (try - 1)
		wait = wait/2 + time.Duration(r.jitter()*float64(wait/2))
		if failed.RetryAfter > 0 {
			wait = failed.RetryAfter
		}
		deadline, limited := ctx.Deadline()
		if wait > maxRetryAfter || limited && time.Until(deadline) < wait || r.sleep(ctx, wait) != nil {
			return failed
		}
	}
}

func (r retry) once(ctx context.Context, call func(context.Context) error) *atlassian.Failure {
	if r.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.limit)
		defer cancel()
	}
	err := call(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &atlassian.Failure{Note: "did not answer in time", Err: err}
	}
	if f, ok := errors.AsType[*atlassian.Failure](err); ok {
		return f
	}
	return atlassian.Explain(err, "it", "the account")
}
