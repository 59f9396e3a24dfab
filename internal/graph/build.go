package graph

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// defaultStepCap is how many supersteps a thread may take in all.
const defaultStepCap = 25

// RunOption is a property of how a flow runs.
type RunOption func(*runOptions)

type runOptions struct {
	observers []func(Event)
	clock     func() time.Time
	sleep     func(context.Context, time.Duration) error
	random    func() float64
	stepCap   int
}

// Observe adds a function that is told what happens. Observers are called one
// at a time, from the goroutines that run tasks; they must return soon.
func Observe(observer func(Event)) RunOption {
	return func(o *runOptions) { o.observers = append(o.observers, observer) }
}

// StepCap sets how many supersteps a thread may take in all; the default is 25.
func StepCap(n int) RunOption { return func(o *runOptions) { o.stepCap = n } }

// WithClock sets the clock of events. No time enters a snapshot.
func WithClock(now func() time.Time) RunOption { return func(o *runOptions) { o.clock = now } }

// WithSleep sets how a retry waits; it returns the context's error when that
// comes first.
func WithSleep(sleep func(context.Context, time.Duration) error) RunOption {
	return func(o *runOptions) { o.sleep = sleep }
}

// WithRandom sets the jitter of retries: numbers from 0 up to 1. It is called
// from several goroutines.
func WithRandom(random func() float64) RunOption { return func(o *runOptions) { o.random = random } }

// Build checks the graph and returns it ready to run. The error joins all that
// is wrong. The store may be nil where nothing can pause; the run is then kept
// in memory alone.
func (g *Graph[S]) Build(store Store, o ...RunOption) (*Flow[S], error) {
	errs := g.check()
	if store == nil && g.pauses() {
		errs = append(errs, errors.New("a gate or interrupt needs a store, and there is none"))
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("building graph %q: %w", g.name, errors.Join(errs...))
	}
	if store == nil {
		store = NewMemory()
	}
	f := &Flow[S]{shape: g.shape, store: store, fingerprint: g.print()}
	f.runOptions = runOptions{clock: time.Now, sleep: sleep, random: rand.Float64, stepCap: defaultStepCap}
	for _, opt := range o {
		opt(&f.runOptions)
	}
	return f, nil
}

func (s *shape[S]) pauses() bool {
	for _, n := range s.nodes {
		if n.kind == kindGate || n.before || n.after {
			return true
		}
	}
	return false
}

// print hashes fields and wiring. No name has a space.
func (s *shape[S]) print() string {
	h := sha256.New()
	fmt.Fprintln(h, "start", s.start.name)
	for _, f := range s.fields {
		fmt.Fprintln(h, "field", f.name, f.reducer, f.typ)
	}
	for _, n := range s.nodes {
		fmt.Fprintln(h, n.kind, n.name, n.types, "before", n.before, "after", n.after, "route", n.by != nil)
		for _, w := range n.writes {
			fmt.Fprintln(h, "writes", w.name)
		}
		for _, t := range n.to {
			fmt.Fprintln(h, "to", t.kind, t.name)
			if t.orElse != nil {
				fmt.Fprintln(h, "else", t.orElse.ref().kind, t.orElse.ref().name)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
