package graph

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
)

// thread is a run in memory: the snapshot at the start of the current superstep,
// and the results of that superstep so far.
type thread struct {
	id       string
	created  time.Time
	state    any      // pointer to the state struct, read-only during a superstep
	raw      []pieces // each field's JSON; nil if it must be encoded again
	frontier []*entry
	pending  []Pending // the interrupts and gates of this superstep
	answered []string  // ids, oldest first
	steps    []Step
	end      string
}

// entry is one node of a superstep, with its tasks.
type entry struct {
	node     *nodeDef
	visit    int
	payloads []any    // one per task; nil for a node that is not a fan
	results  []result // one per task
	stopped  error    // why tasks without a result did not finish
}

type result struct {
	done      bool
	failed    bool // the update comes from the error policy
	unreached bool // the update comes from Unreached
	changes   []change
	err       error

	intent  bool              // an effect may have acted in an earlier process
	answers map[string][]byte // of an unfinished task, by key
	doing   []string          // latest notes of an unfinished task
}

func (e *entry) done() int {
	n := 0
	for _, r := range e.results {
		if r.done {
			n++
		}
	}
	return n
}

// step returns the number of the superstep under way, from 1.
func (t *thread) step() int {
	if len(t.steps) == 0 {
		return 1
	}
	return t.steps[len(t.steps)-1].Step + 1
}

// enter adds a node to the superstep under way, with the payloads of a fan.
func (t *thread) enter(node *nodeDef, payloads []any) {
	e := &entry{node: node, visit: 1, payloads: payloads}
	if node.kind != kindFan {
		e.payloads = []any{nil}
	}
	e.results = make([]result, len(e.payloads))
	for _, s := range t.steps {
		if s.Node == node.name {
			e.visit++
		}
	}
	t.frontier = append(t.frontier, e)
}

func (t *thread) entry(name string) *entry {
	for _, e := range t.frontier {
		if e.node.name == name {
			return e
		}
	}
	return nil
}

// tasks counts the tasks of the superstep under way, gates excluded.
func (t *thread) tasks() (done, total int) {
	for _, e := range t.frontier {
		if e.node.kind != kindGate {
			done, total = done+e.done(), total+len(e.results)
		}
	}
	return done, total
}

// runningNotes returns the latest notes of the running tasks.
func (t *thread) runningNotes() (all []string) {
	for _, e := range t.frontier {
		for _, r := range e.results {
			all = append(all, r.doing...)
		}
	}
	return all
}

// waiting returns what waits for an answer: the interrupts, or the gates once all
// interrupts are answered.
func (t *thread) waiting() []Pending {
	var interrupts, gates []Pending
	for _, p := range t.pending {
		switch {
		case slices.Contains(t.answered, p.ID):
		case p.isInterrupt():
			interrupts = append(interrupts, p)
		default:
			gates = append(gates, p)
		}
	}
	if len(interrupts) > 0 {
		return interrupts
	}
	return gates
}

func (t *thread) status() Status {
	done, total := t.tasks()
	waiting := t.waiting()
	switch {
	case len(waiting) > 0 && (waiting[0].isInterrupt() || done == total):
		return Paused
	case t.end != "" && len(waiting) == 0:
		return Ended
	}
	return Running
}

// begin creates a thread and saves its first snapshot. The state goes through the codec,
// so that it shares nothing with the caller's and equals what a later process would read.
func (f *flow) begin(ctx context.Context, id string, initial any) (*thread, error) {
	t := &thread{id: id, state: f.zero(), created: f.clock().UTC().Round(0), raw: make([]pieces, len(f.fields))}
	for _, field := range f.fields {
		raw, err := encode(field.at(initial))
		if err == nil {
			err = json.Unmarshal(raw.join(), field.at(t.state), codec)
		}
		if err != nil {
			return nil, fmt.Errorf("field %q of the initial state: %w", field.name, err)
		}
	}
	t.enter(f.start, nil)
	if err := f.askGates(t); err != nil {
		return nil, err
	}
	return t, f.save(ctx, t)
}
