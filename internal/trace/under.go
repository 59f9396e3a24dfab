package trace

import (
	"context"

	oteltrace "go.opentelemetry.io/otel/trace"
)

// Under returns ctx with the span of parent: a task that another context ends
// belongs to that step.
func Under(ctx, parent context.Context) context.Context {
	if from(ctx) == nil {
		return ctx
	}
	return oteltrace.ContextWithSpan(ctx, oteltrace.SpanFromContext(parent))
}
