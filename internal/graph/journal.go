package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Record is one line of the journal. It is of one of five kinds: a finished task;
// an answered gate (Gate is its id, Node its name); an answer that a running task
// paid for with Once (Answer is the key, Value the answer); the Doing notes of a
// running task; or the Intent of an effect to act.
type Record struct {
	Step      int             `json:"step"` // the superstep, from 1
	Node      string          `json:"node"`
	Task      int             `json:"task"` // index of its payload
	Gate      string          `json:"gate,omitzero"`
	Answer    string          `json:"answer,omitzero"`
	Doing     []string        `json:"doing,omitempty"`
	Intent    bool            `json:"intent,omitzero"`
	Failed    bool            `json:"failed,omitzero"`    // Update comes from the error policy
	Unreached bool            `json:"unreached,omitzero"` // Update comes from Unreached
	Value     jsontext.Value  `json:"value,omitzero"`
	Update    []RecordedValue `json:"update,omitzero"`
}

// RecordedValue is the value that a task or a gate set a field to.
type RecordedValue struct {
	Field string         `json:"field"`
	Value jsontext.Value `json:"value"`
}

// Latest returns the latest values of the named fields of a run: those of its snapshot, or later
// ones of its journal. For a field with a reducer the journal holds only the latest update.
func (s Saved) Latest(names ...string) (map[string]jsontext.Value, error) {
	snapshot, err := DecodeSnapshot(s.Snapshot)
	all := map[string]jsontext.Value{}
	for _, name := range names {
		all[name] = snapshot.Fields[name]
	}
	for _, data := range s.Journal {
		r, _ := DecodeRecord(data) // a record that does not decode was cut off and set nothing
		for _, u := range r.Update {
			if _, asked := all[u.Field]; asked {
				all[u.Field] = u.Value
			}
		}
	}
	return all, err
}

// DecodeRecord decodes a journal record. It bounds bytes, depth and number of
// values.
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

// errNotKept reports that the store refused a record. No more tasks are started then.
var errNotKept = errors.New("the store refused a record")

// record encodes an update as a journal record with the metadata of r. It also
// returns the changes as a later process would read them back.
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

// append makes a record durable even if the run was cancelled, because work that
// was paid for must be kept.
func (f *flow) append(ctx context.Context, t *thread, node string, data ...[]byte) error {
	if err := checkBounds(data...); err != nil {
		return fmt.Errorf("the record of %q is too large to be read again: %w", node, err)
	}
	if err := f.store.Append(context.WithoutCancel(ctx), t.id, data...); err != nil {
		return fmt.Errorf("%w of %q: %w", errNotKept, node, err)
	}
	return nil
}

// changes decodes the update of a record and refuses fields that its node may not write.
func (f *flow) changes(r Record) ([]change, error) {
	var changes []change
	for _, v := range r.Update {
		field := f.field(v.Field)
		if node := f.node(r.Node); node == nil || !slices.Contains(node.writes, field.fieldID) {
			return nil, fmt.Errorf("node %q does not write field %q", r.Node, v.Field)
		}
		value, err := field.decode(v.Value)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", v.Field, err)
		}
		changes = append(changes, change{field: field.fieldID, value: value})
	}
	return changes, nil
}

// replay applies a record's result so that the task need not run again, and enters
// the next superstep if the record belongs to it. A record that is torn, from an
// earlier step, or does not fit the graph is ignored: its task runs again.
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

// catchUp enters the next superstep if the journal completes the current one. It does
// not enter one with gates: that begins with a snapshot, which drive must save first.
func (f *flow) catchUp(t *thread) {
	if done, total := t.tasks(); done < total || t.status() != Running {
		return
	}
	if next, err := f.nextStep(t); err == nil && len(next.pending) == 0 {
		*t = *next // an error recurs when the thread is driven
	}
}
