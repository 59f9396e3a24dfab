package wire

import (
	"context"
	"errors"
	"time"

	"github.com/org/pr-review-action/internal/graph"
)

// Lingering is a context that ends some time after ctx was cancelled: what a model
// is about to answer was paid for. A deadline of the run it keeps. Done is called
// when it is not needed any more.
func Lingering(ctx context.Context, linger time.Duration) (longer context.Context, done func()) {
	if linger == 0 {
		return ctx, func() {}
	}
	longer, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); errors.Is(cause, graph.ErrDeadline) {
			end(cause)
			return
		}
		timer := time.NewTimer(linger)
		defer timer.Stop()
		select {
		case <-timer.C:
			end(context.Cause(ctx))
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); end(nil) }
}
