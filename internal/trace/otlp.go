package trace

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Flags of a span beside those of the trace: whether its parent is remote is
// known, and that it is.
const (
	remoteKnown = 0x100
	remote      = 0x200
)

const statusError enum = 2

// traces is an ExportTraceServiceRequest of OTLP 1.7. All spans of a batch are
// of one provider and one scope.
// https://github.com/open-telemetry/opentelemetry-proto/blob/v1.7.0/opentelemetry/proto/trace/v1/trace.proto
func traces(batch []sdktrace.ReadOnlySpan) message {
	if len(batch) == 0 {
		return nil
	}
	spans := make([]message, len(batch))
	for i, s := range batch {
		spans[i] = spanMessage(s)
	}
	of := batch[0].InstrumentationScope()
	scoped := message{
		{1, "scope", message{{1, "name", of.Name}, {2, "version", of.Version}}},
		{2, "spans", spans},
	}
	resource := batch[0].Resource()
	return message{{1, "resourceSpans", []message{{
		{1, "resource", message{{1, "attributes", pairMessages(resource.Attributes())}}},
		{2, "scopeSpans", []message{scoped}},
		{3, "schemaUrl", resource.SchemaURL()},
	}}}}
}

func spanMessage(s sdktrace.ReadOnlySpan) message {
	own, parent := s.SpanContext(), s.Parent()
	trace, span, above := own.TraceID(), own.SpanID(), parent.SpanID()
	m := message{
		{1, "traceId", id(trace[:])},
		{2, "spanId", id(span[:])},
		{5, "name", s.Name()},
		{6, "kind", enum(s.SpanKind())}, // the numbers are the same
		{7, "startTimeUnixNano", unix(s.StartTime())},
		{8, "endTimeUnixNano", unix(s.EndTime())},
		{9, "attributes", pairMessages(s.Attributes())},
		{11, "events", eventMessages(s.Events())},
	}
	if above.IsValid() {
		m = append(m, field{4, "parentSpanId", id(above[:])})
	}
	if s.Status().Code == codes.Error {
		m = append(m, field{15, "status", message{{3, "code", statusError}}})
	}
	known := flags(own.TraceFlags()) | remoteKnown
	if parent.IsRemote() {
		known |= remote
	}
	return append(m, field{16, "flags", known})
}

func eventMessages(events []sdktrace.Event) []message {
	all := make([]message, len(events))
	for i, e := range events {
		all[i] = message{{1, "timeUnixNano", unix(e.Time)}, {2, "name", e.Name},
			{3, "attributes", pairMessages(e.Attributes)}}
	}
	return all
}

func pairMessages(all []attribute.KeyValue) []message {
	pairs := make([]message, len(all))
	for i, kv := range all {
		pairs[i] = message{{1, "key", string(kv.Key)}, {2, "value", valueMessage(kv.Value)}}
	}
	return pairs
}

// valueMessage is an AnyValue. Lists of other things than texts are not made here.
func valueMessage(v attribute.Value) message {
	switch v.Type() {
	case attribute.BOOL:
		return message{{2, "boolValue", v.AsBool()}}
	case attribute.INT64:
		return message{{3, "intValue", v.AsInt64()}}
	case attribute.FLOAT64:
		return message{{4, "doubleValue", v.AsFloat64()}}
	case attribute.STRINGSLICE:
		var values []message
		for _, s := range v.AsStringSlice() {
			values = append(values, message{{1, "stringValue", s}})
		}
		return message{{5, "arrayValue", message{{1, "values", values}}}}
	}
	return message{{1, "stringValue", v.Emit()}}
}

func unix(t time.Time) stamp { return stamp(max(0, t.UnixNano())) }
