package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Flow is a built graph with its store. It may run several threads at a time,
// each of them once.
type Flow[S any] struct{ *flow }

// flow is what a Flow does whatever its state is.
type flow struct {
	shape
	runOptions
	fingerprint string
	store       Store

	emitting sync.Mutex // observers are called one at a time
}

// Status says where a thread stands.
type Status string

// The states of a thread. Running is one that a crash, a cancellation or a
// failure left on its way: Continue runs it on.
const (
	Running Status = "running"
	Paused  Status = "paused"
	Ended   Status = "ended"
)

// Result is what a run came to. End is the name of the end that was reached.
type Result[S any] struct {
	Status  Status
	End     string
	State   S
	Pending []Pending
}

// Pending is a gate that waits. ID hashes thread, gate, visit and ask; Visit
// counts from 1. Ask is what the gate's ask function made, null for interrupts.
type Pending struct {
	ID    string          `json:"id"`
	Gate  string          `json:"gate"`
	Visit int             `json:"visit"`
	Ask   json.RawMessage `json:"ask"`
}

// Answer answers a waiting gate. Gate is a Pending's ID, and may be empty when
// exactly one waits. Value is of the gate's answer type, or json.RawMessage; it
// is nil for interrupts.
type Answer struct {
	Gate  string
	Value any
}

// Step is one node's part in a superstep that was finished. Failed counts the
// tasks whose error the node's policy turned into an update, Unreached those
// that the deadline or the budget left out.
type Step struct {
	Step      int    `json:"step"` // the superstep, from 1; nodes side by side share it
	Node      string `json:"node"`
	Visit     int    `json:"visit"`
	Tasks     int    `json:"tasks"`
	Failed    int    `json:"failed"`
	Unreached int    `json:"unreached,omitzero"`
}

// View is what Inspect sees of a thread. Next has the nodes of the superstep
// that is under way; Done and Total count its tasks other than gates, and Doing has
// what those under way noted last.
type View[S any] struct {
	Status      Status
	End         string
	State       S
	Next        []string
	Doing       []string
	Done, Total int
	Pending     []Pending
	Answered    []string // ids, oldest first
	Steps       []Step
}

// Run starts a thread, or continues one that exists; initial is then ignored.
// The result is Paused or Ended. After an error or a cancellation the store
// holds what was finished, and Run or Continue goes on from there. While a
// thread is run by somebody else, Run, Continue and Resume are ErrBusy.
func (f *Flow[S]) Run(ctx context.Context, id string, initial S) (Result[S], error) {
	return resultOf[S](f.run(ctx, id, &initial, nil))
}

// Continue runs a thread on from its store without an answer, as after a
// crash. A thread that is paused or ended is reported as it stands.
func (f *Flow[S]) Continue(ctx context.Context, id string) (Result[S], error) {
	return resultOf[S](f.run(ctx, id, nil, nil))
}

// Resume answers a gate, records the answer and runs on. On a thread that has
// ended it reports the outcome and runs nothing. A refused answer (ErrAnswered,
// ErrNoGate, ErrWrongGate, ErrAnswer, or decide's own error) changes nothing;
// the result then tells where the thread stands.
func (f *Flow[S]) Resume(ctx context.Context, id string, a Answer) (Result[S], error) {
	return resultOf[S](f.run(ctx, id, nil, &a))
}

// resultOf tells where a thread stands; nil is one that could not be read.
func resultOf[S any](t *thread, err error) (Result[S], error) {
	if t == nil {
		return Result[S]{}, err
	}
	return Result[S]{Status: t.status(), End: t.end, State: *t.state.(*S), Pending: t.waiting()}, err
}

// run holds the thread's lock while it runs.
func (f *flow) run(ctx context.Context, id string, initial any, a *Answer) (*thread, error) {
	release, err := f.store.Lock(ctx, id)
	if err != nil {
		return nil, err // the store says of which thread
	}
	t, err := f.runLocked(ctx, id, initial, a)
	if unlock := release(); unlock != nil {
		err = errors.Join(err, fmt.Errorf("unlocking thread %q: %w", id, unlock))
	}
	return t, err
}

// runLocked begins a thread that does not exist if there is an initial state.
func (f *flow) runLocked(ctx context.Context, id string, initial any, a *Answer) (*thread, error) {
	t, err := f.load(ctx, id)
	if initial != nil && errors.Is(err, ErrNoThread) {
		t, err = f.begin(ctx, id, initial)
	}
	if err != nil {
		return nil, err
	}
	if a != nil && (a.Gate != "" || t.status() != Ended) {
		if err := f.answer(ctx, t, *a); err != nil {
			return t, err
		}
	}
	return t, f.drive(ctx, t)
}

// Inspect reports where a thread stands without running anything.
func (f *Flow[S]) Inspect(ctx context.Context, id string) (View[S], error) {
	t, err := f.load(ctx, id)
	if err != nil {
		return View[S]{}, err
	}
	v := View[S]{
		Status: t.status(), End: t.end, State: *t.state.(*S), Next: t.next(), Doing: t.doing(),
		Pending: t.waiting(), Answered: t.answered, Steps: t.steps,
	}
	v.Done, v.Total = t.tasks()
	return v, nil
}

// Name is the graph's name.
func (f *flow) Name() string { return f.name }

// Version is the graph's version.
func (f *flow) Version() int { return f.version }

// Fingerprint is the SHA-256, in hex, over fields and wiring.
func (f *flow) Fingerprint() string { return f.fingerprint }

// EventKind says what an event reports.
type EventKind string

// The kinds of events, in the order in which a step gives them.
const (
	StepStarted EventKind = "step started" // a node's tasks begin: Node, Done (taken from the journal), Total
	TaskDone    EventKind = "task done"    // a task ended: Task, Done of Total, Err where it failed
	GateReached EventKind = "gate reached" // the run pauses: Node is the gate's name
	RunEnded    EventKind = "run ended"    // Node is the end's name
)

// Event is one thing that happened in a run. Done counts the node's tasks that
// ended, failed ones included.
type Event struct {
	Kind        EventKind
	Node        string
	Done, Total int
	Err         error
}

func (f *flow) emit(e Event) {
	if len(f.observers) == 0 {
		return
	}
	f.emitting.Lock()
	defer f.emitting.Unlock()
	for _, observe := range f.observers {
		observe(e)
	}
}
