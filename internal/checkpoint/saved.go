package checkpoint

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/graph"
)

// maxRecords bounds a partial checkpoint's journal. A run of 5,000 files with
// several answers each stays far below it.
const maxRecords = 1 << 18

// EncodeSaved encodes the stored data of a running thread as the checkpoint.json
// of a partial checkpoint: {"snapshot":{…},"journal":[{…},…]}. It copies snapshot
// and records byte for byte.
func EncodeSaved(s graph.Saved) ([]byte, error) {
	if len(s.Journal) > maxRecords {
		return nil, fmt.Errorf("packing a run under way: %w: %d records", errTooLarge, len(s.Journal))
	}
	out := slices.Concat([]byte(`{"snapshot":`), s.Snapshot, []byte(`,"journal":[`),
		bytes.Join(s.Journal, []byte(",")), []byte("]}"))
	if _, err := DecodeSaved(out); err != nil {
		return nil, fmt.Errorf("packing a run under way: %w", err)
	}
	return out, nil
}

// DecodeSaved strictly decodes the result of EncodeSaved. Snapshot and records
// alias data and are not decoded.
func DecodeSaved(data []byte) (graph.Saved, error) {
	r := savedReader{data: data, Decoder: jsontext.NewDecoder(bytes.NewBuffer(data))}
	r.tokens("{", "snapshot")
	s := graph.Saved{Snapshot: r.object()}
	r.tokens("journal", "[")
	for r.err == nil && r.PeekKind() == '{' {
		if s.Journal = append(s.Journal, r.object()); len(s.Journal) > maxRecords {
			r.err = errTooLarge
		}
	}
	r.tokens("]", "}")
	if _, err := r.ReadToken(); r.err == nil && !errors.Is(err, io.EOF) {
		r.err = cmp.Or(err, errors.New("something follows the end"))
	}
	if r.err != nil {
		return graph.Saved{}, fmt.Errorf("reading a run under way: %w", r.err)
	}
	return s, nil
}

// savedReader reads nothing more after its first error.
type savedReader struct {
	data []byte
	err  error
	*jsontext.Decoder
}

func (r *savedReader) tokens(want ...string) {
	for _, w := range want {
		if r.err != nil {
			return
		}
		token, err := r.ReadToken()
		if r.err = err; err == nil && token.String() != w {
			r.err = fmt.Errorf("%.40q instead of %q", token.String(), w)
		}
	}
}

func (r *savedReader) object() []byte {
	if r.err != nil {
		return nil
	}
	value, err := r.ReadValue()
	if err == nil && value.Kind() != '{' {
		err = errors.New("an object is missing")
	}
	r.err = err
	end := int(r.InputOffset())
	return r.data[end-len(value) : end : end]
}
