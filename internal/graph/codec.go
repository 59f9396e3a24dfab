package graph

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of what is read from a store; nothing beyond them is written either.
const (
	maxBytes  = 256 << 20
	maxDepth  = 64
	maxValues = 8 << 20
)

// codec keeps nil and empty apart, orders map keys, and on reading is strict:
// exact names, no duplicates, valid UTF-8, one document.
var codec = json.JoinOptions(
	json.Deterministic(true),
	json.FormatNilSliceAsNull(true),
	json.FormatNilMapAsNull(true),
	json.RejectUnknownMembers(true),
)

// encode returns a value's JSON. Text that is no UTF-8 is stored with replacement
// characters, and v becomes what will be read back: a run must go on after a
// crash as it would have without.
func encode[T any](v *T) ([]byte, error) {
	data, err := json.Marshal(v, codec)
	if err == nil {
		return data, nil
	}
	if data, err = json.Marshal(v, codec, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, err
	}
	*v, err = decode[T](data)
	return data, err
}

func decode[T any](data []byte) (T, error) {
	var v T
	if err := checkBounds(data); err != nil {
		return v, err
	}
	err := json.Unmarshal(data, &v, codec)
	return v, err
}

// checkBounds measures JSON without decoding it. What it counts in text that
// is no JSON does not matter: the decoder refuses that.
func checkBounds(data []byte) error {
	if len(data) > maxBytes {
		return fmt.Errorf("%d bytes, at most %d", len(data), maxBytes)
	}
	depth, values := 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++ // what it escapes may be a quote
				}
			}
		case '{', '[':
			depth++
			values++
		case '}', ']':
			depth--
		case ',':
			values++
		}
		if depth > maxDepth || values > maxValues {
			return fmt.Errorf("more than %d levels or %d values", maxDepth, maxValues)
		}
	}
	return nil
}
