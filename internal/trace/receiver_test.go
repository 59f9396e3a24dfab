package trace

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// receiver is an OTLP receiver that reads strictly and keeps what it got.
type receiver struct {
	*httptest.Server
	answer func(w http.ResponseWriter) // in place of an empty 200

	mu       sync.Mutex
	spans    []*tracepb.Span
	requests []*http.Request
	bodies   []string
	resource map[string]string
	wrong    string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{resource: map[string]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, req)
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		r.wrong = err.Error()
		return
	}
	r.take(req.Header.Get("Content-Type"), raw)
	if r.answer != nil {
		r.answer(w)
	}
}

var enumName = regexp.MustCompile(`SPAN_KIND_|STATUS_CODE_`)

func (r *receiver) take(kind string, raw []byte) {
	var data tracepb.TracesData
	switch kind {
	case "application/x-protobuf":
		if err := proto.Unmarshal(raw, &data); err != nil || len(data.ProtoReflect().GetUnknown()) > 0 {
			r.wrong = "no protobuf of OTLP"
		}
	case "application/json":
		if err := protojson.Unmarshal(raw, &data); err != nil || enumName.Match(raw) {
			r.wrong = "no JSON of OTLP"
		}
	default:
		r.wrong = "content type " + kind
	}
	r.bodies = append(r.bodies, protojson.Format(&data))
	for _, res := range data.ResourceSpans {
		for k, v := range attributes(res.GetResource().GetAttributes()) {
			r.resource[k], _ = v.(string)
		}
		for _, scoped := range res.ScopeSpans {
			for _, s := range scoped.Spans {
				if kind == "application/json" {
					s.TraceId, s.SpanId, s.ParentSpanId = unspell(s.TraceId), unspell(s.SpanId), unspell(s.ParentSpanId)
				}
				if len(s.TraceId) != 16 || len(s.SpanId) != 8 {
					r.wrong = "ids of the wrong length"
				}
				r.spans = append(r.spans, s)
			}
		}
	}
}

// unspell reads an id that the strict reader took for base64 as the hex it is.
func unspell(id []byte) []byte {
	b, _ := hex.DecodeString(base64.StdEncoding.EncodeToString(id))
	return b
}

func attributes(all []*commonpb.KeyValue) map[string]any {
	m := map[string]any{}
	for _, kv := range all {
		switch v := kv.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			m[kv.GetKey()] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			m[kv.GetKey()] = v.IntValue
		case *commonpb.AnyValue_ArrayValue:
			m[kv.GetKey()] = v.ArrayValue.GetValues()[0].GetStringValue()
		}
	}
	return m
}

// span finds the only span of a name.
func (r *receiver) span(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	all := r.named(name)
	require.Len(t, all, 1, name)
	return all[0]
}

func (r *receiver) named(name string) []*tracepb.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*tracepb.Span
	for _, s := range r.spans {
		if s.Name == name {
			all = append(all, s)
		}
	}
	return all
}

func (r *receiver) all(t *testing.T) []*tracepb.Span {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Empty(t, r.wrong)
	return r.spans
}

// environment is a getenv of pairs.
func environment(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

// start begins a trace that is sent to the receiver, with further variables.
func (r *receiver) start(t *testing.T, o Options, pairs ...string) (context.Context, func() error) {
	t.Helper()
	o.Getenv = environment(append([]string{"OTEL_EXPORTER_OTLP_ENDPOINT", r.URL}, pairs...)...)
	ctx, stop, err := Start(t.Context(), o)
	require.NoError(t, err)
	return ctx, stop
}

// one sends a trace of one span.
func one(ctx context.Context) {
	_, s := Run(ctx, "review", time.Now())
	s.End(nil)
}
