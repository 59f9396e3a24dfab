package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// format is the version of the snapshot's own layout.
const format = 1

// Snapshot is a thread at the start of a superstep, as it is stored. It holds
// no times: equal runs give equal bytes. What steps tell, the number of the
// superstep under way and how often a node was visited, is not stored again.
type Snapshot struct {
	Format      int                       `json:"format"`
	Graph       string                    `json:"graph"`
	Version     int                       `json:"version"`
	Fingerprint string                    `json:"fingerprint"`
	Thread      string                    `json:"thread"`
	End         string                    `json:"end"`
	Frontier    []string                  `json:"frontier"` // the nodes that are next
	Pending     []Pending                 `json:"pending"`
	Answered    []string                  `json:"answered"`
	Steps       []Step                    `json:"steps"`
	Payloads    map[string]jsontext.Value `json:"payloads,omitzero"` // a list for each fan that is next
	Fields      map[string]jsontext.Value `json:"fields,omitzero"`
}

// DecodeSnapshot reads a snapshot's layout, not yet its fields. It is bounded
// in bytes, depth and number of values; its errors are ErrSnapshot.
func DecodeSnapshot(data []byte) (Snapshot, error) {
	s, err := decode[Snapshot](data)
	if err != nil {
		return Snapshot{}, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	if s.Format != format {
		return Snapshot{}, fmt.Errorf("%w: format %d, this program reads format %d", ErrSnapshot, s.Format, format)
	}
	return s, nil
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
	s := Snapshot{
		Format: format, Graph: f.name, Version: f.version, Fingerprint: f.fingerprint, Thread: t.id,
		End: t.end, Frontier: t.next(), Pending: t.pending, Answered: t.answered, Steps: t.steps,
	}
	head, err := json.Marshal(&s, codec)
	if err != nil {
		return nil, err
	}
	payloads, err := t.encodePayloads()
	if err != nil {
		return nil, err
	}
	fields, err := f.encodeFields(t)
	if err != nil {
		return nil, err
	}
	size := 64
	for _, m := range slices.Concat(payloads, fields) {
		size += len(m.name) + len(m.json) + len(`"":,`)
	}
	data := slices.Grow(head[:len(head)-1], size)
	data = addObject(data, "payloads", payloads)
	data = addObject(data, "fields", fields)
	return append(data, '}'), nil
}

// member is a name in the snapshot, which is plain ASCII, and its JSON.
type member struct {
	name string
	json []byte
}

func (t *thread[S]) encodePayloads() ([]member, error) {
	var list []member
	for _, e := range t.frontier {
		if e.node.kind != kindFan {
			continue
		}
		raw, err := json.Marshal(e.payloads, codec)
		if err != nil {
			return nil, fmt.Errorf("payloads of %q: %w", e.node.name, err)
		}
		list = append(list, member{e.node.name, raw})
	}
	return list, nil
}

// encodeFields encodes those that changed since the last save.
func (f *Flow[S]) encodeFields(t *thread[S]) ([]member, error) {
	var list []member
	for i, field := range f.fields {
		if t.raw[i] == nil {
			var err error
			if t.raw[i], err = field.save(&t.state); err != nil {
				return nil, fmt.Errorf("field %q: %w", field.name, err)
			}
		}
		list = append(list, member{field.name, t.raw[i]})
	}
	return list, nil
}

// addObject puts what is JSON already into the snapshot without reading it again.
func addObject(data []byte, name string, members []member) []byte {
	data = fmt.Appendf(data, ",%q:{", name)
	for i, m := range members {
		if i > 0 {
			data = append(data, ',')
		}
		data = fmt.Appendf(data, "%q:", m.name)
		data = append(data, m.json...)
	}
	return append(data, '}')
}
