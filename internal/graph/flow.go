package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Flow is a built graph with its store. It can run several threads concurrently,
// but never one thread twice at the same time.
type Flow[S any] struct{ *flow }

// flow is the part of a Flow that does not depend on the type of the state.
type flow struct {
	shape
	runOptions
	fingerprint string
	store       Store

	emitting sync.Mutex // observers are called one at a time
}

// Status is the state of a thread.
type Status string

// The states of a thread. Running also describes a thread that a crash, a
// cancellation or a failure interrupted; Continue resumes it.
const (
	Running Status = "running"
	Paused  Status = "paused"
	Ended   Status = "ended"
)

// Result is the outcome of a run. End is the name of the end it reached.
type Result[S any] struct {
	Status  Status
	End     string
	State   S
	Pending []Pending
}

// Pending is a gate that waits. ID is a hash of thread, gate, visit and ask; Visit
// counts from 1. Ask is the result of the gate's ask function, null for interrupts.
type Pending struct {
	ID    string          `json:"id"`
	Gate  string          `json:"gate"`
	Visit int             `json:"visit"`
	Ask   json.RawMessage `json:"ask"`
}

// Answer answers a waiting gate. Gate is the ID of a Pending, and may be empty if
// exactly one waits. Value has the gate's answer type or is a json.RawMessage; it
// is nil for interrupts.
type Answer struct {
	Gate  string
	Value any
}

// Step records one node's part in a finished superstep. Failed counts the tasks
// whose error the node's policy turned into an update; Unreached counts those
// that the deadline or the budget left out.
type Step struct {
	Step      int    `json:"step"` // the superstep, from 1; parallel nodes share it
	Node      string `json:"node"`
	Visit     int    `json:"visit"`
	Tasks     int    `json:"tasks"`
	Failed    int    `json:"failed"`
	Unreached int    `json:"unreached,omitzero"`
}

// View is a thread as Inspect reports it. Next lists the nodes of the superstep
// under way. Done and Total count its tasks, gates excluded, and Doing holds the
// latest notes of the tasks that are running.
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

// Run starts a thread, or continues an existing one and ignores initial. The
// result is Paused or Ended. After an error or a cancellation the store holds
// what was finished, and Run or Continue continues from there. Run, Continue and
// Resume return ErrBusy while another run holds the thread.
func (f *Flow[S]) Run(ctx context.Context, id string, initial S) (Result[S], error) {
	return resultOf[S](f.run(ctx, id, &initial, nil))
}

// Continue runs a thread on from its store without an answer, as after a crash.
// It reports a paused or ended thread without running anything.
func (f *Flow[S]) Continue(ctx context.Context, id string) (Result[S], error) {
	return resultOf[S](f.run(ctx, id, nil, nil))
}

// Resume answers a gate, records the answer and runs on. On a thread that has
// ended it reports the outcome and runs nothing. A refused answer (ErrAnswered,
// ErrNoGate, ErrWrongGate, ErrAnswer, or decide's own error) changes nothing; the
// result then holds the thread's current state.
func (f *Flow[S]) Resume(ctx context.Context, id string, a Answer) (Result[S], error) {
	return resultOf[S](f.run(ctx, id, nil, &a))
}

// resultOf converts a thread to a Result; t is nil if the thread could not be read.
func resultOf[S any](t *thread, err error) (Result[S], error) {
	if t == nil {
		return Result[S]{}, err
	}
	return Result[S]{Status: t.status(), End: t.end, State: *t.state.(*S), Pending: t.waiting()}, err
}

// run loads and runs the thread while holding its lock.
func (f *flow) run(ctx context.Context, id string, initial any, a *Answer) (*thread, error) {
	release, err := f.store.Lock(ctx, id)
	if err != nil {
		return nil, err // the store's error names the thread
	}
	t, err := f.runLocked(ctx, id, initial, a)
	if unlock := release(); unlock != nil {
		err = errors.Join(err, fmt.Errorf("unlocking thread %q: %w", id, unlock))
	}
	return t, err
}

// runLocked starts a thread that does not exist if initial is not nil.
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

// Inspect returns the state of a thread without running anything.
func (f *Flow[S]) Inspect(ctx context.Context, id string) (View[S], error) {
	t, err := f.load(ctx, id)
	if err != nil {
		return View[S]{}, err
	}
	v := View[S]{
		Status: t.status(), End: t.end, State: *t.state.(*S), Next: t.nextNodes(), Doing: t.runningNotes(),
		Pending: t.waiting(), Answered: t.answered, Steps: t.steps,
	}
	v.Done, v.Total = t.tasks()
	return v, nil
}

// Name returns the graph's name.
func (f *flow) Name() string { return f.name }

// Version returns the graph's version.
func (f *flow) Version() int { return f.version }

// Fingerprint returns the SHA-256 of the fields and the wiring, in hex.
func (f *flow) Fingerprint() string { return f.fingerprint }

// EventKind says what an event reports.
type EventKind string

// The kinds of events, in the order in which a step emits them.
const (
	StepStarted EventKind = "step started" // a node's tasks begin: Node, Done (read from the journal), Total
	TaskDone    EventKind = "task done"    // a task ended: Node, Done of Total, Err if it failed
	GateReached EventKind = "gate reached" // the run pauses: Node is the gate's name
	RunEnded    EventKind = "run ended"    // Node is the end's name
)

// Event is something that happened in a run. Done counts the node's tasks that
// have ended, including failed ones.
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
