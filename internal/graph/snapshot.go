package graph

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// format is the version of the snapshot's own layout. Format 1 had no seal, no
// creation time and no digests; it is still read where there is no key.
const format = 2

// Snapshot is a thread at the start of a superstep, as it is stored. What steps
// tell, the number of the superstep under way and how often a node was visited,
// is not stored again. CreatedAt is when the thread was begun, in UTC, and the
// only time: under one clock equal runs give equal bytes.
type Snapshot struct {
	Seal        string                    `json:"seal,omitzero"` // over all that follows; see Flow and WithKey
	Format      int                       `json:"format"`
	Graph       string                    `json:"graph"`
	Version     int                       `json:"version"`
	Fingerprint string                    `json:"fingerprint"`
	Thread      string                    `json:"thread"`
	CreatedAt   time.Time                 `json:"created_at,omitzero"`
	End         string                    `json:"end"`
	Frontier    []string                  `json:"frontier"` // the nodes that are next
	Pending     []Pending                 `json:"pending"`
	Answered    []string                  `json:"answered"`
	Steps       []Step                    `json:"steps"`
	Payloads    map[string]jsontext.Value `json:"payloads,omitzero"` // a list for each fan that is next
	Fields      map[string]jsontext.Value `json:"fields,omitzero"`
	Digests     map[string]string         `json:"digests,omitzero"` // SHA-256 of each field's JSON, in hex
}

// DecodeSnapshot reads a snapshot's layout, not yet its fields. It is bounded
// in bytes, depth and number of values; its errors are ErrSnapshot. The fields'
// values are parts of data. A plain seal is checked. One under a key is not: a
// flow with WithKey does that.
func DecodeSnapshot(data []byte) (Snapshot, error) {
	if !isKeyed(data) {
		if err := (sealer{}).check(data); err != nil {
			return Snapshot{}, err
		}
	}
	return decodeSnapshot(data)
}

// decodeSnapshot takes bytes whose seal was looked at.
func decodeSnapshot(data []byte) (Snapshot, error) {
	var s Snapshot
	read := struct {
		*Snapshot
		Fields parts `json:"fields"`
	}{&s, parts{of: data}}
	err := checkBounds(data)
	if err == nil {
		err = json.Unmarshal(data, &read, codec)
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	s.Fields = read.Fields.values
	if s.Format != format && (s.Format != 1 || s.Seal != "") {
		return Snapshot{}, fmt.Errorf("%w: format %d, this program reads format %d", ErrSnapshot, s.Format, format)
	}
	for name, value := range s.Fields {
		if s.Format == format && s.Digests[name] != digest(value) {
			return Snapshot{}, fmt.Errorf("%w: field %q does not have its digest", ErrSnapshot, name)
		}
	}
	return s, nil
}

// parts is a JSON object whose values are left where they stand in the document.
type parts struct {
	of     []byte
	values map[string]jsontext.Value
}

// UnmarshalJSONFrom reads the object at its place in the document.
func (p *parts) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind != '{' {
		return fmt.Errorf("%v, not an object", kind)
	}
	p.values = map[string]jsontext.Value{}
	_, err := dec.ReadToken()
	for err == nil && dec.PeekKind() == '"' {
		var name jsontext.Token
		if name, err = dec.ReadToken(); err == nil {
			key := name.String()
			var value jsontext.Value
			value, err = dec.ReadValue()
			end := dec.InputOffset()
			p.values[key] = p.of[end-int64(len(value)) : end : end]
		}
	}
	if err == nil {
		_, err = dec.ReadToken()
	}
	return err
}

// save stores the thread as it stands at the start of a superstep. Cancelling
// the run does not stop it.
func (f *Flow[S]) save(ctx context.Context, t *thread[S]) error {
	data, err := f.encodeThread(t)
	if err != nil {
		return fmt.Errorf("encoding thread %q: %w", t.id, err)
	}
	if err := checkBounds(data); err != nil {
		return fmt.Errorf("snapshot of thread %q is too large to be read again: %w", t.id, err)
	}
	if err := f.store.Save(context.WithoutCancel(ctx), t.id, data); err != nil {
		return fmt.Errorf("saving thread %q: %w", t.id, err)
	}
	return nil
}

func (f *Flow[S]) encodeThread(t *thread[S]) ([]byte, error) {
	head, err := json.Marshal(&Snapshot{
		Format: format, Graph: f.name, Version: f.version, Fingerprint: f.fingerprint, Thread: t.id, CreatedAt: t.created,
		End: t.end, Frontier: t.next(), Pending: t.pending, Answered: t.answered, Steps: t.steps,
	}, codec)
	if err != nil {
		return nil, err
	}
	var d document
	fmt.Fprintf(&d, `%s%s,"payloads":{`, f.seal.blank(), head[1:len(head)-1])
	if err := t.addPayloads(&d); err != nil {
		return nil, err
	}
	fmt.Fprint(&d, `},"fields":{`)
	if err := f.addFields(&d, t); err != nil {
		return nil, err
	}
	fmt.Fprint(&d, "}")
	data := d.bytes()
	f.seal.set(data)
	return data, nil
}

func (t *thread[S]) addPayloads(d *document) error {
	sep := ""
	for _, e := range t.frontier {
		if e.node.kind != kindFan {
			continue
		}
		fmt.Fprintf(d, "%s%q:", sep, e.node.name)
		if err := json.MarshalWrite(d, e.payloads, codec); err != nil {
			return fmt.Errorf("payloads of %q: %w", e.node.name, err)
		}
		sep = ","
	}
	return nil
}

// addFields puts the fields into a snapshot, and behind them their digests.
func (f *Flow[S]) addFields(d *document, t *thread[S]) error {
	digests := map[string]string{}
	for i, field := range f.fields {
		if i > 0 {
			fmt.Fprint(d, ",")
		}
		fmt.Fprintf(d, "%q:", field.name)
		value := document{sum: sha256.New()}
		if raw := t.raw[i]; raw != nil {
			value.take(raw)
		} else if err := field.save(&value, &t.state); err != nil {
			return fmt.Errorf("field %q: %w", field.name, err)
		}
		digests[field.name] = hex.EncodeToString(value.sum.Sum(nil))
		d.full, d.last = append(append(append(d.full, d.last), value.full...), value.last), nil
	}
	fmt.Fprint(d, `},"digests":`)
	return add(d, &digests)
}
