package trace

import (
	"math"
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

const statusError = 2

// message is a protocol buffer's message in the wire format. The protocol buffers runtime would be the larger part of
// what tracing adds to the program: it keeps the linker from dropping unused methods.
// https://protobuf.dev/programming-guides/encoding/
type message []byte

// bytes appends a field of bytes, a string or a message; an empty one is written, too.
func (m message) bytes(number protowire.Number, value []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, number, protowire.BytesType), value)
}

func (m message) text(number protowire.Number, value string) message {
	return m.bytes(number, []byte(value))
}

func (m message) varint(number protowire.Number, value uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), value)
}

func (m message) fixed64(number protowire.Number, value uint64) message {
	return protowire.AppendFixed64(protowire.AppendTag(m, number, protowire.Fixed64Type), value)
}

func (m message) fixed32(number protowire.Number, value uint32) message {
	return protowire.AppendFixed32(protowire.AppendTag(m, number, protowire.Fixed32Type), value)
}

// traces returns an ExportTraceServiceRequest of OTLP 1.7. All spans of a batch, which the SDK never leaves empty,
// have one provider and one scope.
// https://github.com/open-telemetry/opentelemetry-proto/blob/v1.7.0/opentelemetry/proto/trace/v1/trace.proto
func traces(batch []sdktrace.ReadOnlySpan) (m message) {
	of, resource := batch[0].InstrumentationScope(), batch[0].Resource()
	scoped := message{}.bytes(1, message{}.text(1, of.Name).text(2, of.Version))
	for _, s := range batch {
		scoped = scoped.bytes(2, spanMessage(s))
	}
	return m.bytes(1, message{}.bytes(1, message{}.pairs(1, resource.Attributes())).bytes(2, scoped).
		text(3, resource.SchemaURL()))
}

func spanMessage(s sdktrace.ReadOnlySpan) (m message) {
	own, parent := s.SpanContext(), s.Parent()
	trace, span, above := own.TraceID(), own.SpanID(), parent.SpanID()
	m = m.bytes(1, trace[:]).bytes(2, span[:])
	if above.IsValid() {
		m = m.bytes(4, above[:])
	}
	m = m.text(5, s.Name()).varint(6, uint64(s.SpanKind())) // its numbers are OTLP's
	m = m.fixed64(7, unix(s.StartTime())).fixed64(8, unix(s.EndTime())).pairs(9, s.Attributes())
	for _, e := range s.Events() {
		m = m.bytes(11, message{}.fixed64(1, unix(e.Time)).text(2, e.Name).pairs(3, e.Attributes))
	}
	if s.Status().Code == codes.Error {
		m = m.bytes(15, message{}.varint(3, statusError))
	}
	flags := uint32(own.TraceFlags()) | remoteKnown
	if parent.IsRemote() {
		flags |= remote
	}
	return m.fixed32(16, flags)
}

// pairs appends attributes.
func (m message) pairs(number protowire.Number, all []attribute.KeyValue) message {
	for _, kv := range all {
		m = m.bytes(number, message{}.text(1, string(kv.Key)).bytes(2, valueMessage(kv.Value)))
	}
	return m
}

// valueMessage returns an AnyValue. The only lists that this package makes are of strings.
func valueMessage(v attribute.Value) (m message) {
	switch v.Type() {
	case attribute.BOOL:
		return m.varint(2, protowire.EncodeBool(v.AsBool()))
	case attribute.INT64:
		return m.varint(3, uint64(v.AsInt64()))
	case attribute.FLOAT64:
		return m.fixed64(4, math.Float64bits(v.AsFloat64()))
	case attribute.STRINGSLICE:
		var values message
		for _, s := range v.AsStringSlice() {
			values = values.bytes(1, message{}.text(1, s))
		}
		return m.bytes(5, values)
	}
	return m.text(1, v.String())
}

func unix(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) }
