package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
)

// RunOption is a property of how a flow runs.
type RunOption func(*runOptions)

type runOptions struct {
	observers []func(Event)
	clock     func() time.Time
	stepCap   int

	deadline time.Time
	key      []byte // key of the seal; nil if there is none
}

// Observe adds a function that receives the run's events. Observers are called
// one at a time, from the goroutines that run tasks; they must return quickly.
func Observe(observer func(Event)) RunOption {
	return func(o *runOptions) { o.observers = append(o.observers, observer) }
}

// StepCap sets how many supersteps a thread may take in all; the default is 25.
func StepCap(n int) RunOption { return func(o *runOptions) { o.stepCap = n } }

// WithClock sets the clock that dates a new thread.
func WithClock(now func() time.Time) RunOption { return func(o *runOptions) { o.clock = now } }

// WithKey seals snapshots with HMAC-SHA256 under a key of at least 32 bytes. A
// snapshot not sealed under that key is refused with ErrSeal. Without a key the
// seal is a plain SHA-256, which detects damage but not tampering.
func WithKey(key []byte) RunOption {
	return func(o *runOptions) { o.key = append([]byte{}, key...) }
}

// Build checks the graph and returns it ready to run. The error joins every
// mistake found. The store may be nil if nothing can pause; the run is then kept
// in memory only.
func (g *Graph[S]) Build(store Store, o ...RunOption) (*Flow[S], error) {
	f, err := g.build(store, o)
	if err != nil {
		return nil, err
	}
	return &Flow[S]{f}, nil
}

func (g *graph) build(store Store, o []RunOption) (*flow, error) {
	defer func(declared []error) { g.errs = declared }(g.errs) // so that another Build starts afresh
	g.check()
	pauses := slices.ContainsFunc(g.nodes, func(n *nodeDef) bool { return n.kind == kindGate || n.before || n.after })
	if store == nil && pauses {
		g.refuse("a gate or interrupt needs a store, and there is none")
	}
	options := runOptions{clock: time.Now, stepCap: 25}
	for _, opt := range o {
		opt(&options)
	}
	if options.key != nil && len(options.key) < sha256.Size {
		g.refuse("the key that seals snapshots has %d bytes, at least %d are needed", len(options.key), sha256.Size)
	}
	if len(g.errs) > 0 {
		return nil, fmt.Errorf("building graph %q: %w", g.name, errors.Join(g.errs...))
	}
	if store == nil {
		store = NewMemory()
	}
	g.setLimits()
	return &flow{shape: g.shape, runOptions: options, store: store, fingerprint: g.hashWiring()}, nil
}

// hashWiring returns a hash of the fields and the wiring. No name contains a space.
func (s *shape) hashWiring() string {
	h := sha256.New()
	fmt.Fprintln(h, "start", s.start.name)
	for _, f := range s.fields {
		fmt.Fprintln(h, "field", f.name, f.reducer, f.typ)
	}
	for _, n := range s.nodes {
		fmt.Fprintln(h, n.kind, n.name, n.types, "before", n.before, "after", n.after, "route", n.route != nil)
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
