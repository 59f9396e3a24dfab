// Package trace records what a run did, step by step: to an OpenTelemetry collector if the standard OTEL_* variables
// name one, and to a local file if one was requested.
//
// Otherwise it is off and costs nothing. It never fails or delays a run: a dead or slow collector is one error of the
// function that ends the trace. It sends no prompt and no answer unless requested, and no header value to any log. It
// also draws the tree of a finished run. Start reading at Start; then Run and the like for spans, Call for models,
// Parent for the gate, Tree for the terminal.
package trace

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/org/pr-review-action/internal/transport"
)

// scope is the name of the spans' instrumentation scope.
const scope = "github.com/org/pr-review-action"

// Options configures where a trace goes. The zero value turns it off.
type Options struct {
	Getenv    func(string) string // for OTEL_*; nil: none is set
	Local     io.Writer           // receives a line of JSON for each span that ended; nil for none
	Version   string              // of this program
	AllowHTTP bool                // allow plain http to collectors beyond loopback
	Redact    func(string) string // removes credentials from every text from outside; nil for none
	HTTP      *http.Client        // to the collector; a client of package transport if nil
}

type contextKey struct{}

// tracer makes the spans of one run.
type tracer struct {
	oteltrace.Tracer
	redact  func(string) string
	content bool
}

func tracerFrom(ctx context.Context) *tracer {
	t, _ := ctx.Value(contextKey{}).(*tracer)
	return t
}

// Start returns a context whose spans are kept, and the function that ends the trace: call it once, after the last
// span has ended. It waits a few seconds at most, even if ctx has ended, and its error, ErrLost, deserves one
// warning. If nothing requests a trace, the context is ctx itself.
//
// The error is an ErrSettings. Context and function are usable even then: the trace goes to the local writer only.
func Start(ctx context.Context, o Options) (context.Context, func() error, error) {
	env, err := readSettings(o.Getenv, o.AllowHTTP)
	if !env.on && o.Local == nil {
		return ctx, func() error { return nil }, err
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(describeProgram(o.Version))}
	var written *local
	if o.Local != nil {
		written = &local{to: o.Local}
		options = append(options, sdktrace.WithSpanProcessor(written))
	}
	var sent *collector
	waiting, abandon := context.WithCancel(context.WithoutCancel(ctx))
	if env.on {
		sent = &collector{settings: env, http: newClient(o), run: waiting}
		options = append(options, sdktrace.WithBatcher(sent,
			sdktrace.WithMaxQueueSize(sdktrace.DefaultMaxQueueSize))) // the SDK panics at a negative variable
	}
	provider := sdktrace.NewTracerProvider(options...)
	t := &tracer{Tracer: provider.Tracer(scope, oteltrace.WithInstrumentationVersion(o.Version)), redact: o.Redact,
		content: env.content}
	return context.WithValue(ctx, contextKey{}, t), func() error {
		defer abandon()
		defer time.AfterFunc(grace, abandon).Stop()
		err := provider.Shutdown(context.WithoutCancel(ctx))
		return errors.Join(err, sent.lostError(), written.failure())
	}, err
}

// describeProgram describes this program to the collector, as far as the environment does not.
func describeProgram(version string) *resource.Resource {
	known := resource.NewWithAttributes(semconv.SchemaURL, semconv.ServiceName("pr-review"),
		semconv.ServiceVersion(version), semconv.TelemetrySDKName("opentelemetry"), semconv.TelemetrySDKLanguageGo,
		semconv.TelemetrySDKVersion(sdk.Version()))
	named, _ := resource.Merge(known, resource.NewSchemaless(resource.Environment().Attributes()...)) // one schema
	return named
}

// newClient returns the client for the collector. A batch may be sent again: the server tells spans by their ids.
func newClient(o Options) *http.Client {
	if o.HTTP != nil {
		return o.HTTP
	}
	return transport.New(transport.Options{
		UserAgent: "pr-review/" + o.Version, AllowHTTP: o.AllowHTTP, Tries: 3, LimitTries: 2, MaxBody: 1 << 20,
		Backoff: 500 * time.Millisecond, LimitWait: time.Second, Retry: func(*http.Request) bool { return true },
	})
}

const (
	header     = "traceparent"
	maxCarried = 55 // bytes of version 00
)

// Parent identifies the span of a context, so that another process can continue its trace: a traceparent of W3C Trace
// Context, version 00. It is empty if the context has no span, as with tracing off.
// https://www.w3.org/TR/trace-context/#traceparent-header
func Parent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get(header)
}

// Continue returns a context whose next span is a child of the one that Parent identified. It ignores anything that
// Parent would not have written.
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

// Under returns ctx with the span of parent, for a task that belongs to that step but has another context.
func Under(ctx, parent context.Context) context.Context {
	if tracerFrom(ctx) == nil {
		return ctx
	}
	return oteltrace.ContextWithSpan(ctx, oteltrace.SpanFromContext(parent))
}
