package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Record is one line of the journal, in one of five kinds: a task that finished;
// a gate that was answered (Gate is its id, Node its name); an answer that a task
// under way paid for with Once (Answer is the key, Value what it got); what a task
// under way is Doing; and the Intent of an effect to act.
type Record struct {
	Step      int             `json:"step"` // the superstep, from 1
	Node      string          `json:"node"`
	Task      int             `json:"task"` // its payload's index
	Gate      string          `json:"gate,omitzero"`
	Answer    string          `json:"answer,omitzero"`
	Doing     []string        `json:"doing,omitempty"`
	Intent    bool            `json:"intent,omitzero"`
	Failed    bool            `json:"failed,omitzero"`    // the update is the error policy's
	Unreached bool            `json:"unreached,omitzero"` // the update is the one of Unreached
	Value     jsontext.Value  `json:"value,omitzero"`
	Update    []RecordedValue `json:"update,omitzero"`
}

// RecordedValue is what a task or a gate gave to a field.
type RecordedValue struct {
	Field string         `json:"field"`
	Value jsontext.Value `json:"value"`
}

// Latest gives what a run under way has set fields to: in its snapshot, or since in its
// journal. Of a field that grows it is the last part alone.
func (s Saved) Latest(names ...string) (map[string]jsontext.Value, error) {
	snapshot, err := DecodeSnapshot(s.Snapshot)
	all := map[string]jsontext.Value{}
	for _, name := range names {
		all[name] = snapshot.Fields[name]
	}
	for _, data := range s.Journal {
		r, _ := DecodeRecord(data) // what does not decode was cut off, and set nothing
		for _, u := range r.Update {
			if _, asked := all[u.Field]; asked {
				all[u.Field] = u.Value
			}
		}
	}
	return all, err
}

// DecodeRecord reads a record of a journal. It is bounded in bytes, depth and
// number of values.
func DecodeRecord(data []byte) (Record, error) {
	r, err := decode[Record](data)
	if err != nil {
		return Record{}, fmt.Errorf("reading a record: %w", err)
	}
	kinds := 0
	for _, is := range []bool{r.Gate != "", r.Answer != "", len(r.Doing) > 0, r.Intent, r.Failed, r.Unreached} {
		if is {
			kinds++
		}
	}
	unfinished := r.Answer != "" || r.Intent || len(r.Doing) > 0
	if kinds > 1 || (r.Answer != "") != (r.Value != nil) || r.Update != nil && unfinished {
		return Record{}, errors.New("reading a record: it is of two kinds at once")
	}
	return r, nil
}

// errNotKept is a store that refused a record: nothing more should be started.
var errNotKept = errors.New("the store refused a record")

// record encodes what a node wants changed as a record that begins as r does. It
// returns the changes as a later process would read them.
func (f *flow) record(r Record, u Update) (pieces, []change, error) {
	head, err := json.Marshal(&r, codec)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the record of %q: %w", r.Node, err)
	}
	doc, sep := pieces{head[:len(head)-1], []byte(`,"update":[`)}, ""
	changes := slices.Clone(u.changes)
	for i := range changes {
		c := &changes[i]
		if node := f.node(r.Node); node == nil || !slices.Contains(node.writes, c.field) {
			return nil, nil, fmt.Errorf("node %q does not declare that it writes field %q", r.Node, c.field.name)
		}
		field := f.fields[c.field.index]
		var value pieces
		if c.value, value, err = field.encode(c.value); err != nil {
			return nil, nil, fmt.Errorf("encoding field %q: %w", field.name, err)
		}
		doc = append(doc, fmt.Appendf(nil, `%s{"field":%q,"value":`, sep, field.name))
		doc, sep = append(append(doc, value...), []byte("}")), ","
		if field.reducer == "" {
			c.raw = value
		}
	}
	return append(doc, []byte("]}")), changes, nil
}

// append makes a record durable, also after the run was cancelled: what was paid
// for is kept.
func (f *flow) append(ctx context.Context, t *thread, node string, data ...[]byte) error {
	if err := checkBounds(data...); err != nil {
		return fmt.Errorf("the record of %q is too large to be read again: %w", node, err)
	}
	if err := f.store.Append(context.WithoutCancel(ctx), t.id, data...); err != nil {
		return fmt.Errorf("%w of %q: %w", errNotKept, node, err)
	}
	return nil
}

// changes decodes a record's update, which must be one that its node may make.
func (f *flow) changes(r Record) ([]change, error) {
	var changes []change
	for _, v := range r.Update {
		i := slices.IndexFunc(f.fields, func(d *fieldDef) bool { return d.name == v.Field })
		if node := f.node(r.Node); i < 0 || node == nil || !slices.Contains(node.writes, f.fields[i].fieldID) {
			return nil, fmt.Errorf("node %q does not write field %q", r.Node, v.Field)
		}
		value, err := f.fields[i].decode(v.Value)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", v.Field, err)
		}
		changes = append(changes, change{field: f.fields[i].fieldID, value: value})
	}
	return changes, nil
}

// replay takes a record's result instead of running the task again, and enters
// the superstep after this one where the record is of it. A record that is torn,
// of an earlier step, or does not fit the graph is ignored: its task runs again.
func (f *flow) replay(t *thread, data []byte) {
	r, err := DecodeRecord(data)
	if err != nil {
		return
	}
	if r.Step == t.step()+1 {
		f.catchUp(t)
	}
	if r.Step != t.step() {
		return
	}
	changes, err := f.changes(r)
	if err != nil {
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
	if e := t.entry(r.Node); e != nil && e.node.kind != kindGate && r.Task >= 0 && r.Task < len(e.results) {
		e.results[r.Task].replay(r, changes)
	}
}

func (r *result) replay(rec Record, changes []change) {
	switch {
	case r.done:
	case rec.Intent:
		r.intent = true
	case len(rec.Doing) > 0:
		r.doing = rec.Doing
	case rec.Answer != "":
		if r.answers == nil {
			r.answers = map[string][]byte{}
		}
		r.answers[rec.Answer] = rec.Value
	default:
		*r = result{done: true, failed: rec.Failed, unreached: rec.Unreached, changes: changes}
	}
}

// catchUp enters the next superstep if the journal has all of the one under way.
// One that asks begins with a snapshot, which drive has to save first.
func (f *flow) catchUp(t *thread) {
	if done, total := t.tasks(); done < total || t.status() != Running {
		return
	}
	if next, err := f.following(t); err == nil && len(next.pending) == 0 {
		*t = *next // an error comes again when the thread is driven
	}
}
