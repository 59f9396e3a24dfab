// Package graph runs typed state graphs in supersteps, with gates that wait
// for a person and a store from which a run goes on in another process.
//
// A graph has a state struct, fields that point into it, nodes that return
// updates, and edges or routes between nodes. What cannot run safely does not
// build. In each superstep the flow computes the tasks, journals what each
// came to, waits for all, merges their updates in task order and schedules; where
// the next superstep asks, it saves a snapshot. The package knows nothing of what
// nodes do, opens no files and starts no timers but those of retries and the
// deadline. Start reading at Graph, then Flow in flow.go.
package graph

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
)

// Graph is a graph under construction. Its methods record what is declared and
// what is wrong with it; Build reports every mistake at once. After Build
// nothing more may be declared.
type Graph[S any] struct{ graph }

// graph is what a Graph is whatever its state is. Code without a type parameter is
// compiled once; Graph and Flow are compiled anew for each state in each package
// that uses them, so they do no more than convert.
type graph struct {
	shape
	errs []error
}

// shape is what was declared. A state in it is a pointer to the state struct.
type shape struct {
	name    string
	version int
	zero    func() any          // a new state
	clone   func(state any) any // a copy, which shares what the fields point to
	fields  []*fieldDef
	nodes   []*nodeDef
	start   *nodeDef
}

type nodeDef struct {
	targetRef
	settings
	types []reflect.Type // what is stored as JSON: the payload of a fan, question and answer of a gate
	run   func(ctx context.Context, state, payload any) (Update, error)
	look  func(ctx context.Context, state any) (u Update, done bool, err error) // of an effect

	payloads func([]byte) ([]any, error)            // of a fan, from JSON
	ask      func(state any) ([]byte, error)        // of a gate
	decide   func(state, value any) (Update, error) // of a gate

	to            []targetRef          // edges, or what by may choose
	by            func(state any) Next // nil without a route
	before, after bool                 // interrupts
	limited       bool                 // stops at the deadline
}

// leadsTo returns every target that can follow the node.
func (n *nodeDef) leadsTo() []targetRef {
	var all []targetRef
	for _, t := range n.to {
		all = append(all, t)
		if t.orElse != nil {
			all = append(all, t.orElse.ref())
		}
	}
	return all
}

type fieldDef struct {
	*fieldID
	reducer string // "" where a new value replaces the old one
	typ     reflect.Type
	at      func(state any) any // the *T
	get     func(state any) any // the T
	encode  func(v any) (kept any, raw pieces, err error)
	decode  func([]byte) (any, error)
	merge   func(state, v any)
	settle  func(state any) // after a superstep's merges
}

// node returns the node of that name, or nil.
func (s *shape) node(name string) *nodeDef {
	for _, n := range s.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// New returns an empty graph over the state struct S. Name and version go into
// every snapshot; raise the version when what is stored changes its meaning.
func New[S any](name string, version int) *Graph[S] {
	return &Graph[S]{graph{shape: shape{
		name: name, version: version,
		zero:  func() any { return new(S) },
		clone: func(state any) any { s := *state.(*S); return &s },
	}}}
}

// refuse notes a mistake for Build to report.
func (g *graph) refuse(format string, args ...any) {
	g.errs = append(g.errs, fmt.Errorf(format, args...))
}

// namePattern keeps names safe in Mermaid, JSON and messages.
var namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

func (g *graph) checkName(what, name string) {
	if !namePattern.MatchString(name) {
		g.refuse("%s %q: a name is a letter and up to 63 letters, digits, dashes and underscores", what, name)
	}
}
