package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
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
