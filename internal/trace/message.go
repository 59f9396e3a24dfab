package trace

import (
	"encoding/hex"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a protocol buffer's message, described once for both of its forms.
// The runtime of protocol buffers would be the larger part of what tracing adds
// to the program: it keeps the linker from leaving out methods nobody calls.
type message []field

// field has a string, bool, float64, int64, message, []message or one of the types below as its value.
type field struct {
	number protowire.Number
	name   string // in JSON
	value  any
}

type (
	id    []byte // of a trace or a span: hex in JSON
	stamp uint64 // nanoseconds since 1970, in eight bytes
	enum  int32  // a number in JSON too
	flags uint32 // in four bytes
)

// binary appends the message in the wire's form.
// https://protobuf.dev/programming-guides/encoding/
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

// tree is the message for an encoder of JSON, by the rules of OTLP: ids in hex,
// enumerations as numbers, whole numbers of 64 bits as texts.
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
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
