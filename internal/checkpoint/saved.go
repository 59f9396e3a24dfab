package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"

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
	size := len(s.Snapshot) + len(`{"snapshot":,"journal":[]}`)
	for _, record := range s.Journal {
		size += len(record) + 1
	}
	out := append(make([]byte, 0, size), `{"snapshot":`...)
	out = append(out, s.Snapshot...)
	out = append(out, `,"journal":[`...)
	for i, record := range s.Journal {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, record...)
	}
	out = append(out, "]}"...)
	if _, err := DecodeSaved(out); err != nil {
		return nil, fmt.Errorf("packing a run under way: %w", err)
	}
	return out, nil
}

// DecodeSaved strictly decodes the result of EncodeSaved. Snapshot and records
// alias data and are not decoded.
func DecodeSaved(data []byte) (graph.Saved, error) {
	r := savedReader{data, jsontext.NewDecoder(bytes.NewBuffer(data))}
	var s graph.Saved
	var err error
	if err = r.tokens("{", "snapshot"); err == nil {
		s.Snapshot, err = r.object()
	}
	if err == nil {
		err = r.tokens("journal", "[")
	}
	for err == nil && r.PeekKind() == '{' {
		var record []byte
		record, err = r.object()
		if s.Journal = append(s.Journal, record); len(s.Journal) > maxRecords {
			err = errTooLarge
		}
	}
	if err == nil {
		err = r.tokens("]", "}")
	}
	if err == nil {
		if _, err = r.ReadToken(); err == nil {
			err = errors.New("something follows the end")
		} else if errors.Is(err, io.EOF) {
			return s, nil
		}
	}
	return graph.Saved{}, fmt.Errorf("reading a run under way: %w", err)
}

type savedReader struct {
	data []byte
	*jsontext.Decoder
}

func (r savedReader) tokens(want ...string) error {
	for _, w := range want {
		token, err := r.ReadToken()
		if err != nil {
			return err
		}
		if token.String() != w {
			return fmt.Errorf("%.40q instead of %q", token.String(), w)
		}
	}
	return nil
}

func (r savedReader) object() ([]byte, error) {
	value, err := r.ReadValue()
	if err != nil {
		return nil, err
	}
	if value.Kind() != '{' {
		return nil, errors.New("an object is missing")
	}
	end := int(r.InputOffset())
	return r.data[end-len(value) : end : end], nil
}
