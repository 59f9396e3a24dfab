package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// record is one line of the journal: a task that finished, or a gate that was
// answered (Gate is its id, Node its name).
type record struct {
	Step   int             `json:"step"`
	Node   string          `json:"node"`
	Task   int             `json:"task"`
	Gate   string          `json:"gate,omitempty"`
	Failed bool            `json:"failed,omitzero"`
	Update []recordedValue `json:"update"`
}

type recordedValue struct {
	Field string         `json:"field"`
	Value jsontext.Value `json:"value"`
}

// errNotKept is a store that refused a record: nothing more should be started.
var errNotKept = errors.New("the store refused a record")

// keep makes what a node wants changed durable, also after the run was
// cancelled: what was paid for is kept. It returns the changes as a later
// process would read them.
func (f *Flow[S]) keep(ctx context.Context, t *thread[S], r record, u Update) ([]change, error) {
	var changes []change
	for _, c := range u.changes {
		if node := f.node(r.Node); node == nil || !slices.Contains(node.writes, c.field) {
			return nil, fmt.Errorf("node %q does not declare that it writes field %q", r.Node, c.field.name)
		}
		field := f.fields[c.field.index]
		raw, kept, err := field.encode(c.value)
		if err != nil {
			return nil, fmt.Errorf("encoding field %q: %w", field.name, err)
		}
		r.Update = append(r.Update, recordedValue{field.name, raw})
		if field.reducer != "" {
			raw = nil
		}
		changes = append(changes, change{c.field, kept, raw})
	}
	data, err := json.Marshal(&r, codec)
	if err != nil {
		return nil, fmt.Errorf("encoding the record of %q: %w", r.Node, err)
	}
	if err := checkBounds(data); err != nil {
		return nil, fmt.Errorf("the record of %q is too large to be read again: %w", r.Node, err)
	}
	if err := f.store.Append(context.WithoutCancel(ctx), t.id, data); err != nil {
		return nil, fmt.Errorf("%w of %q: %w", errNotKept, r.Node, err)
	}
	return changes, nil
}

// read decodes a record. Its update must be one that its node may make.
func (f *Flow[S]) read(data []byte) ([]change, record, error) {
	r, err := decode[record](data)
	if err != nil {
		return nil, r, err
	}
	var changes []change
	for _, v := range r.Update {
		i := slices.IndexFunc(f.fields, func(d *fieldDef[S]) bool { return d.name == v.Field })
		if node := f.node(r.Node); i < 0 || node == nil || !slices.Contains(node.writes, f.fields[i].fieldID) {
			return nil, r, fmt.Errorf("node %q does not write field %q", r.Node, v.Field)
		}
		value, err := f.fields[i].decode(v.Value)
		if err != nil {
			return nil, r, fmt.Errorf("field %q: %w", v.Field, err)
		}
		changes = append(changes, change{field: f.fields[i].fieldID, value: value})
	}
	return changes, r, nil
}

// replay takes a record's result instead of running the task again. A record
// that is torn, of another step, or does not fit the graph is ignored: its
// task runs again.
func (f *Flow[S]) replay(t *thread[S], data []byte) {
	changes, r, err := f.read(data)
	if err != nil || r.Step != t.step() {
		return
	}
	if r.Gate != "" {
		for _, p := range t.waiting() {
			if p.ID == r.Gate && p.Gate == r.Node {
				t.accept(p, changes)
			}
		}
		return
	}
	e := t.entry(r.Node)
	if e == nil || e.node.kind == kindGate || r.Task < 0 || r.Task >= len(e.results) || e.results[r.Task].done {
		return
	}
	e.results[r.Task] = result{done: true, failed: r.Failed, changes: changes}
}
