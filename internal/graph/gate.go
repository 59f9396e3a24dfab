package graph

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// dueGates returns the interrupts and gates of the superstep under way, without questions.
func (f *flow) dueGates(t *thread) []Pending {
	var list []Pending
	for _, s := range t.steps {
		if n := f.node(s.Node); s.Step == t.step()-1 && n != nil && n.after {
			list = append(list, Pending{Gate: "after:" + s.Node, Visit: s.Visit})
		}
	}
	for _, e := range t.frontier {
		if e.node.before {
			list = append(list, Pending{Gate: "before:" + e.node.name, Visit: e.visit})
		}
		if e.node.kind == kindGate {
			list = append(list, Pending{Gate: e.node.name, Visit: e.visit})
		}
	}
	return list
}

// askGates calls the ask function of each gate that is due and assigns the gate's id.
func (f *flow) askGates(t *thread) error {
	t.pending = f.dueGates(t)
	for i := range t.pending {
		p := &t.pending[i]
		ask := func() ([]byte, error) { return []byte("null"), nil }
		if !p.isInterrupt() {
			ask = func() ([]byte, error) { return f.node(p.Gate).ask(t.state) }
		}
		var err error
		if p.Ask, err = protect(ask); err != nil {
			return &NodeError{Node: p.Gate, Task: -1, Err: fmt.Errorf("asking: %w", err)}
		}
		p.ID = gateID(t.id, p.Gate, p.Visit, p.Ask)
	}
	return nil
}

// gateID returns a hash of the thread, gate, visit and question that an answer is for.
func gateID(thread, gate string, visit int, ask []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s,%d:%s,%d,%d:%s", len(thread), thread, len(gate), gate, visit, len(ask), ask)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// isInterrupt reports whether p is an interrupt: a node's name cannot contain a colon.
func (p Pending) isInterrupt() bool { return strings.Contains(p.Gate, ":") }

// answer checks an answer, records it in the store and applies it to the thread.
// The update is computed before the record is written, so that an answer
// that decide refuses leaves no trace.
func (f *flow) answer(ctx context.Context, t *thread, a Answer) error {
	p, err := t.gateFor(a.Gate)
	if err != nil {
		return err
	}
	u, err := f.decide(t, p, a.Value)
	if err != nil {
		return err
	}
	data, changes, err := f.record(Record{Step: t.step(), Node: p.Gate, Gate: p.ID}, u)
	if err != nil {
		return err
	}
	if err := f.append(ctx, t, p.Gate, data...); err != nil {
		return err
	}
	t.accept(p, changes)
	return nil
}

// decide returns the update that the gate's node returns for an answer.
func (f *flow) decide(t *thread, p Pending, value any) (Update, error) {
	if p.isInterrupt() {
		if value != nil {
			return Update{}, fmt.Errorf("%w: interrupt %q takes no value", ErrAnswer, p.Gate)
		}
		return Update{}, nil
	}
	u, err := protect(func() (Update, error) { return f.node(p.Gate).decide(t.state, value) })
	if err != nil {
		return Update{}, &NodeError{Node: p.Gate, Task: -1, Err: fmt.Errorf("deciding: %w", err)}
	}
	return u, nil
}

// gateFor returns the waiting gate that an answer is for.
func (t *thread) gateFor(id string) (Pending, error) {
	waiting := t.waiting()
	if i := slices.IndexFunc(waiting, func(p Pending) bool { return p.ID == id }); i >= 0 {
		return waiting[i], nil
	}
	switch {
	case id != "" && slices.Contains(t.answered, id):
		return Pending{}, fmt.Errorf("%w: %s", ErrAnswered, id)
	case len(waiting) == 0:
		return Pending{}, fmt.Errorf("%w: thread %q is %s", ErrNoGate, t.id, t.status())
	case id != "" || len(waiting) > 1:
		var list []string
		for _, p := range waiting {
			list = append(list, fmt.Sprintf("%s (%s)", p.ID, p.Gate))
		}
		return Pending{}, fmt.Errorf("%w: it names %q, and %d wait: %s", ErrWrongGate, id, len(waiting),
			strings.Join(list, ", "))
	}
	return waiting[0], nil
}

// accept marks a gate as answered.
func (t *thread) accept(p Pending, changes []change) {
	t.answered = append(slices.Clip(t.answered), p.ID)
	if e := t.entry(p.Gate); e != nil {
		e.results[0] = result{done: true, changes: changes}
	}
}
