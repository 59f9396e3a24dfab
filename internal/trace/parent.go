package trace

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"
)

const (
	header     = "traceparent"
	maxCarried = 55 // bytes of version 00
)

// Parent names the span of a context, so that another process can continue its
// trace: a traceparent of W3C Trace Context, version 00. It is empty where the
// context has no span, which is so where tracing is off.
// https://www.w3.org/TR/trace-context/#traceparent-header
func Parent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get(header)
}

// Continue returns a context whose next span is a child of what Parent named.
// Anything that Parent would not have written is ignored.
func Continue(ctx context.Context, traceparent string) context.Context {
	if len(traceparent) != maxCarried || traceparent[:3] != "00-" {
		return ctx
	}
	carrier := propagation.MapCarrier{header: traceparent}
	remote := propagation.TraceContext{}.Extract(ctx, carrier)
	if !oteltrace.SpanContextFromContext(remote).IsRemote() {
		return ctx
	}
	return remote
}

// Under returns ctx with the span of parent: a task that another context ends
// belongs to that step.
func Under(ctx, parent context.Context) context.Context {
	if from(ctx) == nil {
		return ctx
	}
	return oteltrace.ContextWithSpan(ctx, oteltrace.SpanFromContext(parent))
}
