package reviewpr

import (
	"context"
	"fmt"
	"sync"

	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/trace"
)

// traceStep wraps a step in a span.
func traceStep(name string, step func(context.Context, State) (graph.Update,
	error)) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (graph.Update, error) {
		ctx, span := trace.Step(ctx, name)
		span.Text("status", string(StatusOf(name)))
		u, err := step(ctx, s)
		span.End(err)
		return u, err
	}
}

// endSpan ends the span of a file's task, with the panic if there was one.
func endSpan(span *trace.Span, err *error) {
	p := recover()
	if p == nil {
		span.End(*err)
		return
	}
	span.End(fmt.Errorf("panic: %v", p))
	panic(p)
}

// fanOut is the span of a step with many tasks. It starts with the first task and
// ends when the following step starts.
type fanOut struct {
	name string
	once sync.Once
	ctx  context.Context
	span *trace.Span
}

func (f *fanOut) begin(ctx context.Context) context.Context {
	f.once.Do(func() {
		f.ctx, f.span = trace.Step(ctx, f.name)
		f.span.Text("status", string(StatusOf(f.name)))
	})
	return trace.Under(ctx, f.ctx)
}

func (f *fanOut) end() {
	f.once.Do(func() {}) // in case no task ran
	f.span.End(nil)
}
