package graph

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds on what is read from a store. Nothing larger is written either.
const (
	maxBytes  = 256 << 20
	maxDepth  = 64
	maxValues = 8 << 20
)

// codec keeps nil and empty apart and sorts map keys. It reads strictly: exact
// names, no duplicates, valid UTF-8, one document.
var codec = json.JoinOptions(
	json.Deterministic(true),
	json.FormatNilSliceAsNull(true),
	json.FormatNilMapAsNull(true),
	json.RejectUnknownMembers(true),
)

// pieces is a JSON document under construction, split between tokens. Growing one
// buffer to the size of a large text would copy it several times.
type pieces [][]byte

const piece = 1 << 20

func (p *pieces) Write(data []byte) (int, error) {
	last, size := len(*p)-1, len(data)
	if last < 0 || len((*p)[last])+size > piece {
		if last++; last > 0 {
			size = max(piece, size)
		}
		*p = append(*p, make([]byte, 0, size))
	}
	(*p)[last] = append((*p)[last], data...)
	return len(data), nil
}

func (p pieces) join() []byte { return bytes.Join(p, nil) }

// encode returns the JSON of what v points to. Text that is not valid UTF-8 is
// stored with replacement characters, and v is set to what will be read back, so
// that a run continues after a crash exactly as it would have without one.
func encode(v any) (pieces, error) {
	var p pieces
	if json.MarshalWrite(&p, v, codec) == nil {
		return p, nil
	}
	data, err := json.Marshal(v, codec, jsontext.AllowInvalidUTF8(true))
	if err == nil {
		reflect.ValueOf(v).Elem().SetZero()
		err = read(data, v)
	}
	return pieces{data}, err
}

func decode[T any](data []byte) (v T, err error) {
	err = read(data, &v)
	return v, err
}

// read decodes JSON that is within the bounds into what v points to.
func read(data []byte, v any) error {
	if err := checkBounds(data); err != nil {
		return err
	}
	return json.Unmarshal(data, v, codec)
}

// checkBounds measures JSON without decoding it. Its counts are meaningless for
// text that is not JSON, which the decoder refuses anyway.
func checkBounds(doc ...[]byte) error {
	size, depth, values := 0, 0, 0
	for _, data := range doc {
		if size += len(data); size > maxBytes {
			return fmt.Errorf("more than %d bytes", maxBytes)
		}
		for i := 0; i < len(data); i++ {
			switch data[i] {
			case '"':
				i += textLength(data[i+1:])
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
	}
	return nil
}

// textLength returns the length of a string literal up to and including its
// closing quote, the first one preceded by an even number of backslashes.
func textLength(data []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return len(data)
		}
		before := n
		for before > 0 && data[i+before-1] == '\\' {
			before--
		}
		if i += n + 1; (n-before)%2 == 0 {
			return i
		}
	}
}
