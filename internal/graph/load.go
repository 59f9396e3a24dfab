package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
)

// load reads a thread from the store: its snapshot, and the journal of the
// supersteps since.
func (f *flow) load(ctx context.Context, id string) (*thread, error) {
	saved, err := f.store.Load(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("loading thread %q: %w", id, err)
	}
	if err := checkSeal(f.key, saved.Snapshot); err != nil {
		return nil, fmt.Errorf("reading thread %q: %w", id, err)
	}
	s, err := decodeSnapshot(saved.Snapshot)
	if err != nil {
		return nil, fmt.Errorf("reading thread %q: %w", id, err)
	}
	if err := f.checkIdentity(id, s); err != nil {
		return nil, err
	}
	t, err := f.restore(id, s)
	if err != nil {
		return nil, fmt.Errorf("reading thread %q: %w: %w", id, ErrSnapshot, err)
	}
	for _, data := range saved.Journal {
		f.replay(t, data)
	}
	f.catchUp(t) // also to the end of the graph, if that comes next
	return t, nil
}

// checkIdentity refuses a snapshot of another graph, version or wiring, and names both.
func (f *flow) checkIdentity(id string, s Snapshot) error {
	const identity = "graph %q version %d (%.12s)"
	have := fmt.Sprintf(identity, s.Graph, s.Version, s.Fingerprint)
	want := fmt.Sprintf(identity, f.name, f.version, f.fingerprint)
	if s.Graph == f.name && s.Version == f.version && s.Fingerprint == f.fingerprint {
		return nil
	}
	return &VersionError{Thread: id, Have: have, Want: want}
}

// restore turns a decoded snapshot into a thread. It refuses a snapshot that no
// run of this graph could have saved.
func (f *flow) restore(id string, s Snapshot) (*thread, error) {
	if s.Thread != id {
		return nil, fmt.Errorf("it is of thread %q", s.Thread)
	}
	if (s.End == "") == (len(s.Frontier) == 0) {
		return nil, fmt.Errorf("end %q and %d next nodes", s.End, len(s.Frontier))
	}
	t := &thread{id: id, state: f.zero(), end: s.End, created: s.CreatedAt, pending: s.Pending, answered: s.Answered,
		steps: s.Steps, raw: make([]pieces, len(f.fields))}
	for i, field := range f.fields {
		if err := json.Unmarshal(s.Fields[field.name], field.at(t.state), codec); err != nil {
			return nil, fmt.Errorf("field %q: %w", field.name, err)
		}
		field.settle(t.state)
		t.raw[i] = pieces{s.Fields[field.name]}
	}
	for _, name := range s.Frontier {
		if err := f.restoreEntry(t, name, s.Payloads[name]); err != nil {
			return nil, fmt.Errorf("next node %q: %w", name, err)
		}
	}
	asked := slices.EqualFunc(f.dueGates(t), t.pending, func(due, p Pending) bool {
		return p.Gate == due.Gate && p.Visit == due.Visit && p.ID == gateID(id, p.Gate, p.Visit, p.Ask)
	})
	if !asked {
		return nil, errors.New("its gates are not those that are due, or an id is not the hash of what is asked")
	}
	return t, nil
}

func (f *flow) restoreEntry(t *thread, name string, raw []byte) error {
	node := f.node(name)
	switch {
	case node == nil:
		return errors.New("there is no such node")
	case t.entry(name) != nil:
		return errors.New("it is listed twice")
	case (node.kind == kindFan) != (raw != nil):
		return errors.New("a fan has payloads, and no other node has")
	}
	var payloads []any
	if node.kind == kindFan {
		var err error
		if payloads, err = node.payloads(raw); err == nil && len(payloads) == 0 {
			err = errors.New("its list of payloads is empty")
		}
		if err != nil {
			return err
		}
	}
	t.enter(node, payloads)
	return nil
}
