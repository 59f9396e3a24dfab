package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// encode writes a batch as the body of a request.
func (s settings) encode(batch []sdktrace.ReadOnlySpan) ([]byte, error) {
	body, err := traces(batch).binary(nil), error(nil)
	if s.json {
		body, err = json.Marshal(traces(batch).tree())
	}
	if err != nil {
		return nil, fmt.Errorf("encoding the spans: %w", err)
	}
	if !s.gzip {
		return body, nil
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(body)
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, fmt.Errorf("compressing the spans: %w", err)
	}
	return packed.Bytes(), nil
}

func (s settings) mediaType() string {
	if s.json {
		return "application/json"
	}
	return "application/x-protobuf"
}

// rejected reads from an answer how many spans the collector took and threw
// away. What cannot be read counts as none.
// https://opentelemetry.io/docs/specs/otlp/#partial-success-1
func (s settings) rejected(answer []byte) int64 {
	if s.json {
		return rejectedJSON(answer)
	}
	n, _ := protowire.ConsumeVarint(find(find(answer, 1, protowire.BytesType), 1, protowire.VarintType))
	return max(0, int64(n))
}

func rejectedJSON(answer []byte) int64 {
	var said struct {
		PartialSuccess struct{ RejectedSpans json.RawMessage }
	}
	// A collector may write the number as a text, and may answer with nothing.
	if json.Unmarshal(answer, &said) != nil {
		return 0
	}
	n, err := strconv.ParseInt(string(bytes.Trim(said.PartialSuccess.RejectedSpans, `"`)), 10, 64)
	if err != nil {
		return 0
	}
	return max(0, n)
}

// find finds the value of a message's field; nil where there is none. A varint
// is given as it stands, bytes without their length.
func find(message []byte, number protowire.Number, kind protowire.Type) []byte {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		value := message[n:]
		size := protowire.ConsumeFieldValue(num, typ, value)
		switch {
		case size < 0:
			return nil
		case num == number && typ == kind && typ == protowire.BytesType:
			inner, _ := protowire.ConsumeBytes(value)
			return inner
		case num == number && typ == kind:
			return value[:size]
		}
		message = value[size:]
	}
	return nil
}
