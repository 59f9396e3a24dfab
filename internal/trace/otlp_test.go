package trace

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// official keeps what OpenTelemetry's own exporter makes of spans.
type official struct{ batch []*tracepb.ResourceSpans }

func (o *official) Start(context.Context) error { return nil }
func (o *official) Stop(context.Context) error  { return nil }
func (o *official) UploadTraces(_ context.Context, batch []*tracepb.ResourceSpans) error {
	o.batch = batch
	return nil
}

// ended collects spans.
type ended struct{ spans []sdktrace.ReadOnlySpan }

func (e *ended) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (e *ended) OnEnd(s sdktrace.ReadOnlySpan)                   { e.spans = append(e.spans, s) }
func (e *ended) Shutdown(context.Context) error                  { return nil }
func (e *ended) ForceFlush(context.Context) error                { return nil }

func TestSpansAreWrittenAsTheOfficialExporterDoes(t *testing.T) {
	t.Parallel()
	kept := &ended{}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(kept),
		sdktrace.WithResource(describeProgram("1.2.3")))
	tr := &tracer{Tracer: provider.Tracer(scope), redact: redact, content: true}
	ctx := Continue(context.WithValue(t.Context(), contextKey{}, tr),
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	ctx, run := Run(ctx, "draft", time.Now())
	run.set(attribute.Bool("b", true), attribute.Float64("f", -1.5), attribute.Int64("n", -3),
		attribute.StringSlice("s", []string{"x", "", "y"}), attribute.String("e", ""))
	drafted(ctx)
	speak(ctx)
	try, end := Call(ctx, CallStart{Model: "m"})
	over, _ := try(ctx, 1)
	over(&http.Response{StatusCode: 429}, nil)
	end(CallEnd{})
	run.End(nil)
	theirs := &official{}
	exporter, err := otlptrace.New(t.Context(), theirs)
	require.NoError(t, err)
	require.NoError(t, exporter.ExportSpans(t.Context(), kept.spans))
	want := &tracepb.TracesData{ResourceSpans: theirs.batch}

	got := &tracepb.TracesData{}
	require.NoError(t, proto.Unmarshal(traces(kept.spans), got))
	require.Equal(t, protojson.Format(want), protojson.Format(alike(got)))
	require.True(t, proto.Equal(want, alike(got)))
}

// alike is a batch as the official exporter writes it: an empty status for a good one.
func alike(data *tracepb.TracesData) *tracepb.TracesData {
	data = proto.CloneOf(data)
	for _, s := range data.ResourceSpans[0].ScopeSpans[0].Spans {
		if s.Status == nil {
			s.Status = &tracepb.Status{}
		}
	}
	return data
}
