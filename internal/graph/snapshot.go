package graph

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// format is the version of the snapshot's own layout.
const format = 2

// Snapshot is the stored form of a thread at the start of a superstep. The number
// of the superstep and the visits of each node follow from Steps and are not
// stored again. CreatedAt is when the thread was created, in UTC, and the only
// time in it: with the same clock, equal runs produce equal bytes.
type Snapshot struct {
	Seal        string                    `json:"seal,omitzero"` // over everything after it; see Flow and WithKey
	Format      int                       `json:"format"`
	Graph       string                    `json:"graph"`
	Version     int                       `json:"version"`
	Fingerprint string                    `json:"fingerprint"`
	Thread      string                    `json:"thread"`
	CreatedAt   time.Time                 `json:"created_at,omitzero"`
	End         string                    `json:"end"`
	Frontier    []string                  `json:"frontier"` // the next nodes
	Pending     []Pending                 `json:"pending"`
	Answered    []string                  `json:"answered"`
	Steps       []Step                    `json:"steps"`
	Payloads    map[string]jsontext.Value `json:"payloads,omitzero"` // a list for each fan in Frontier
	Fields      map[string]jsontext.Value `json:"fields,omitzero"`
	Digests     map[string]string         `json:"digests,omitzero"` // SHA-256 of each field's JSON, in hex
}

// DecodeSnapshot decodes a snapshot without decoding its fields, whose values
// alias data. It bounds bytes, depth and number of values; its errors are
// ErrSnapshot. It checks a plain seal, but not one under a key: a flow with
// WithKey does that.
func DecodeSnapshot(data []byte) (Snapshot, error) {
	if !isKeyed(data) {
		if err := checkSeal(nil, data); err != nil {
			return Snapshot{}, err
		}
	}
	return decodeSnapshot(data)
}

// decodeSnapshot decodes a snapshot without checking its seal.
func decodeSnapshot(data []byte) (Snapshot, error) {
	var s Snapshot
	parts := json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v *jsontext.Value) error { // kept as parts of data
		value, err := dec.ReadValue()
		end := dec.InputOffset()
		*v = data[end-int64(len(value)) : end : end]
		return err
	})
	err := checkBounds(data)
	if err == nil {
		err = json.Unmarshal(data, &s, codec, json.WithUnmarshalers(parts))
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	if s.Format != format {
		return Snapshot{}, fmt.Errorf("%w: format %d, this program reads format %d", ErrSnapshot, s.Format, format)
	}
	for name, value := range s.Fields {
		if s.Digests[name] != digest(value) {
			return Snapshot{}, fmt.Errorf("%w: field %q does not have its digest", ErrSnapshot, name)
		}
	}
	return s, nil
}

// save stores the thread at the start of a superstep, even if the run was
// cancelled.
func (f *flow) save(ctx context.Context, t *thread) error {
	data, err := f.encodeThread(t)
	if err != nil {
		return fmt.Errorf("encoding thread %q: %w", t.id, err)
	}
	if err := checkBounds(data...); err != nil {
		return fmt.Errorf("snapshot of thread %q is too large to be read again: %w", t.id, err)
	}
	if err := f.store.Save(context.WithoutCancel(ctx), t.id, data...); err != nil {
		return fmt.Errorf("saving thread %q: %w", t.id, err)
	}
	return nil
}

func (f *flow) encodeThread(t *thread) (pieces, error) {
	head, err := json.Marshal(&Snapshot{
		Format: format, Graph: f.name, Version: f.version, Fingerprint: f.fingerprint, Thread: t.id,
		CreatedAt: t.created,
		End:       t.end, Frontier: t.nextNodes(), Pending: t.pending, Answered: t.answered, Steps: t.steps,
	}, codec)
	if err != nil {
		return nil, err
	}
	doc, sep := pieces{nil, head[1 : len(head)-1], []byte(`,"payloads":{`)}, ""
	for _, e := range t.frontier {
		if e.node.kind == kindFan {
			payloads, err := json.Marshal(e.payloads, codec)
			if err != nil {
				return nil, fmt.Errorf("payloads of %q: %w", e.node.name, err)
			}
			doc = append(doc, fmt.Appendf(nil, "%s%q:", sep, e.node.name), payloads)
			sep = ","
		}
	}
	doc, sep = append(doc, []byte(`},"fields":{`)), ""
	digests := map[string]string{}
	for i, field := range f.fields {
		value := t.raw[i]
		if value == nil {
			if value, err = encode(field.at(t.state)); err != nil {
				return nil, fmt.Errorf("field %q: %w", field.name, err)
			}
		}
		digests[field.name] = digest(value...)
		doc = append(append(doc, fmt.Appendf(nil, "%s%q:", sep, field.name)), value...)
		sep = ","
	}
	doc = append(doc, []byte(`},"digests":`))
	foot, err := encode(&digests)
	if err != nil {
		return nil, err
	}
	doc = append(append(doc, foot...), []byte("}"))
	doc[0] = seal(f.key, doc[1:]...)
	return doc, nil
}

// A sealed snapshot begins with its seal, which covers every byte after it:
//
//	{"seal":"hmac-sha256:<64 hex digits>",<the other members>}
//
// Which kind of seal is required depends on whether there is a key, never on the
// snapshot.
const (
	plainStart = `{"seal":"sha256:`
	keyedStart = `{"seal":"hmac-sha256:`
)

// seal returns the beginning of a snapshot, up to where rest follows. The seal is
// HMAC-SHA256 under a key, or SHA-256 without one.
func seal(key []byte, rest ...[]byte) []byte {
	start, h := plainStart, sha256.New()
	if key != nil {
		start, h = keyedStart, hmac.New(sha256.New, key)
	}
	for _, data := range rest {
		h.Write(data)
	}
	return fmt.Appendf(nil, `%s%x",`, start, h.Sum(nil))
}

// checkSeal refuses a snapshot that differs in any byte from what was sealed, or
// that has the wrong kind of seal. It decodes nothing.
func checkSeal(key, snapshot []byte) error {
	size := len(seal(key))
	switch {
	case len(snapshot) > maxBytes:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrSnapshot, len(snapshot), maxBytes)
	case key == nil && isKeyed(snapshot):
		return fmt.Errorf("%w: it is under a key, and there is none here to check it with", ErrSeal)
	case key != nil && !isKeyed(snapshot):
		return fmt.Errorf("%w: there is a key, and no seal under it", ErrSeal)
	case len(snapshot) < size, !hmac.Equal(seal(key, snapshot[size:]), snapshot[:size]):
		return fmt.Errorf("%w: it was changed or cut, or sealed under another key", ErrSeal)
	}
	return nil
}

func isKeyed(snapshot []byte) bool { return bytes.HasPrefix(snapshot, []byte(keyedStart)) }

func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, data := range parts {
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
