package trace

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// Flags of a span besides those of the trace: it is known whether the parent is remote, and that it is.
const (
	remoteKnown = 0x100
	remote      = 0x200
)

const statusError enum = 2

// traces returns an ExportTraceServiceRequest of OTLP 1.7. All spans of a batch have one provider and one scope.
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

// valueMessage returns an AnyValue. The only lists that this package makes are of strings.
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

// message is a protocol buffer's message, described once for both encodings. The protocol buffers runtime would be
// the larger part of what tracing adds to the program: it keeps the linker from dropping unused methods.
type message []field

// field holds a string, bool, float64, int64, message, []message or one of the types below.
type field struct {
	number protowire.Number
	name   string // in JSON
	value  any
}

type (
	id    []byte // of a trace or a span: hex in JSON
	stamp uint64 // nanoseconds since 1970, in eight bytes
	enum  int32  // also a number in JSON
	flags uint32 // in four bytes
)

// binary appends the message in the wire format. https://protobuf.dev/programming-guides/encoding/
func (m message) binary(b []byte) []byte {
	for _, f := range m {
		switch v := f.value.(type) {
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, f.number, protowire.BytesType), v)
		case id:
			b = protowire.AppendBytes(protowire.AppendTag(b, f.number, protowire.BytesType), v)
		case bool:
			b = protowire.AppendVarint(protowire.AppendTag(b, f.number, protowire.VarintType), protowire.EncodeBool(v))
		case int64:
			b = protowire.AppendVarint(protowire.AppendTag(b, f.number, protowire.VarintType), uint64(v))
		case enum:
			b = protowire.AppendVarint(protowire.AppendTag(b, f.number, protowire.VarintType), uint64(v))
		case float64:
			b = protowire.AppendFixed64(protowire.AppendTag(b, f.number, protowire.Fixed64Type), math.Float64bits(v))
		case stamp:
			b = protowire.AppendFixed64(protowire.AppendTag(b, f.number, protowire.Fixed64Type), uint64(v))
		case flags:
			b = protowire.AppendFixed32(protowire.AppendTag(b, f.number, protowire.Fixed32Type), uint32(v))
		case message:
			b = protowire.AppendBytes(protowire.AppendTag(b, f.number, protowire.BytesType), v.binary(nil))
		case []message:
			for _, inner := range v {
				b = protowire.AppendBytes(protowire.AppendTag(b, f.number, protowire.BytesType), inner.binary(nil))
			}
		}
	}
	return b
}

// tree returns the message for a JSON encoder, by the rules of OTLP: ids in hex, enumerations as numbers, 64-bit
// integers as strings. https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
func (m message) tree() map[string]any {
	all := make(map[string]any, len(m))
	for _, f := range m {
		switch v := f.value.(type) {
		case id:
			all[f.name] = hex.EncodeToString(v)
		case int64:
			all[f.name] = strconv.FormatInt(v, 10)
		case stamp:
			all[f.name] = strconv.FormatUint(uint64(v), 10)
		case message:
			all[f.name] = v.tree()
		case []message:
			list := make([]map[string]any, len(v))
			for i, inner := range v {
				list[i] = inner.tree()
			}
			all[f.name] = list
		default:
			all[f.name] = v
		}
	}
	return all
}
