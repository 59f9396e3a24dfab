package graph

import (
	"bytes"
	"fmt"
	"hash"

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

// document is JSON in the making: in pieces, since to let one buffer grow to what
// a large one needs moves it several times.
type document struct {
	full [][]byte
	last []byte
	sum  hash.Hash // of all of it, where wanted
}

const piece = 1 << 20

func (d *document) Write(p []byte) (int, error) {
	if len(d.last)+len(p) > piece && len(d.last) > 0 {
		d.full, d.last = append(d.full, d.last), make([]byte, 0, max(piece, len(p)))
	}
	d.last = append(d.last, p...)
	if d.sum != nil {
		d.sum.Write(p)
	}
	return len(p), nil
}

// take puts JSON at the end without copying it yet.
func (d *document) take(raw []byte) {
	d.full, d.last = append(d.full, d.last, raw), nil
	d.sum.Write(raw)
}

func (d *document) size() int {
	n := len(d.last)
	for _, p := range d.full {
		n += len(p)
	}
	return n
}

func (d *document) bytes() []byte {
	if len(d.full) == 0 {
		return d.last
	}
	all := make([]byte, 0, d.size())
	for _, p := range append(d.full, d.last) {
		all = append(all, p...)
	}
	return all
}

// add puts a value's JSON at a document's end. Text that is no UTF-8 is stored
// with replacement characters, and v becomes what will be read back: a run must
// go on after a crash as it would have without.
func add[T any](d *document, v *T) error {
	before := *d
	if json.MarshalWrite(d, v, codec) == nil {
		return nil
	}
	if *d = before; d.sum != nil {
		d.sum.Reset()
	}
	data, err := json.Marshal(v, codec, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	_, _ = d.Write(data)
	*v, err = decode[T](data)
	return err
}

// encode is the JSON of one value, as add makes it.
func encode[T any](v *T) ([]byte, error) {
	var d document
	err := add(&d, v)
	return d.bytes(), err
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
	return nil
}

// textLength counts the bytes of a text up to and with the quote that ends it:
// the first with an even number of backslashes before it.
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
