// Package trace tells what a run did, step by step: to an OpenTelemetry collector where the standard OTEL_* variables
// name one, and to a local file where one was asked for.
//
// It is off otherwise, and then costs nothing. It never fails or delays a run: a collector that is dead or slow is
// one error of the function that ends it. It sends no prompt and no answer unless asked, and no header value to any
// log. It also draws the tree of a finished run. Start reading at Start; then Run and its kin for spans, Call for
// models, Parent for the gate, Tree for the terminal.
package trace

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/org/pr-review-action/internal/transport"
)

// scope names what made the spans.
const scope = "github.com/org/pr-review-action"

// Options says where a trace goes. The zero value is a trace that is off.
type Options struct {
	Getenv    func(string) string // for OTEL_*; nil: none is set
	Local     io.Writer           // takes one JSON object a line for each span that ended; nil for none
	Version   string              // of this program
	AllowHTTP bool                // plain http to collectors other than on loopback
	Redact    func(string) string // takes credentials out of every text from outside; nil for none
	HTTP      *http.Client        // to the collector; a client of package transport when nil
}

type contextKey struct{}

// tracer is what the spans of one run are made with.
type tracer struct {
	oteltrace.Tracer
	redact  func(string) string
	content bool
}

func from(ctx context.Context) *tracer {
	t, _ := ctx.Value(contextKey{}).(*tracer)
	return t
}

// Start returns a context whose spans are kept, and the function that ends the trace: call it once, when the last
// span has ended. It waits a few seconds at most, also where ctx has ended, and its error, which is ErrLost, is worth
// one warning. Where nothing asks for a trace the context is ctx itself.
//
// An error is ErrSettings. Context and function are usable with it: the trace then goes to the local writer alone.
func Start(ctx context.Context, o Options) (context.Context, func() error, error) {
	env, err := readSettings(o.Getenv, o.AllowHTTP)
	if !env.on && o.Local == nil {
		return ctx, func() error { return nil }, err
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	r := &run{ctx: context.WithoutCancel(ctx)}
	options := []sdktrace.TracerProviderOption{
		sdktrace.WithSampler(env.sampler), sdktrace.WithResource(about(env, o.Version)),
	}
	if o.Local != nil {
		r.local = &local{to: o.Local}
		options = append(options, sdktrace.WithSpanProcessor(r.local), sdktrace.WithSampler(recordAll{env.sampler}))
	}
	if env.on {
		r.collector = &collector{settings: env, http: newClient(o)}
		r.collector.run, r.collector.abandon = context.WithCancel(r.ctx)
		options = append(options, sdktrace.WithBatcher(r.collector, env.batch...))
	}
	r.provider = sdktrace.NewTracerProvider(options...)
	t := &tracer{Tracer: r.provider.Tracer(scope, oteltrace.WithInstrumentationVersion(o.Version)), redact: o.Redact,
		content: env.content}
	return context.WithValue(ctx, contextKey{}, t), r.end, err
}

// run is what has to be ended.
type run struct {
	ctx       context.Context // of the run, without its end
	provider  *sdktrace.TracerProvider
	collector *collector // nil for none
	local     *local     // nil for none
}

// end sends what is left. What waits for the collector beyond the grace is given up.
func (r *run) end() error {
	if r.collector != nil {
		timer := time.AfterFunc(grace, r.collector.abandon)
		defer timer.Stop()
		defer r.collector.abandon()
	}
	err := r.provider.Shutdown(r.ctx)
	return errors.Join(err, r.collector.lost(), r.local.failed())
}

// about describes this program to the collector.
func about(env settings, version string) *resource.Resource {
	known := []attribute.KeyValue{
		semconv.ServiceName("pr-review"), semconv.ServiceVersion(version), semconv.TelemetrySDKName("opentelemetry"),
		semconv.TelemetrySDKLanguageGo, semconv.TelemetrySDKVersion(sdk.Version()),
	}
	return resource.NewWithAttributes(semconv.SchemaURL, append(known, env.resource...)...)
}

// recordAll keeps every span for the local file, also those that the sampler would not have sent.
type recordAll struct{ sdktrace.Sampler }

// ShouldSample is the inner sampler's, with spans recorded that it drops.
func (s recordAll) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	r := s.Sampler.ShouldSample(p)
	if r.Decision == sdktrace.Drop {
		r.Decision = sdktrace.RecordOnly
	}
	return r
}

// newClient is the way to the collector. A batch may be sent again: the server tells spans by their ids.
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

// Parent names the span of a context, so that another process can continue its trace: a traceparent of W3C Trace
// Context, version 00. It is empty where the context has no span, which is so where tracing is off.
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

// Under returns ctx with the span of parent: a task that another context ends belongs to that step.
func Under(ctx, parent context.Context) context.Context {
	if from(ctx) == nil {
		return ctx
	}
	return oteltrace.ContextWithSpan(ctx, oteltrace.SpanFromContext(parent))
}
