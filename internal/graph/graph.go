// Package graph runs typed state graphs in supersteps. Gates wait for a person,
// and a stored run can be resumed by another process.
//
// A graph has a state struct, fields that point into it, nodes that return
// updates, and edges or routes between nodes. Build rejects graphs that cannot
// run safely. In each superstep the flow runs the tasks, journals each result,
// waits for all of them, merges their updates in task order and schedules the
// next; if the next superstep has a gate or an interrupt, it saves a snapshot. The
// package knows nothing about what nodes do, opens no files and starts no timer
// other than the deadline's. Start reading at Graph, then Flow in flow.go.
package graph

import (
	"context"
	"fmt"
	"reflect"

	"github.com/org/pr-review-action/internal/pattern"
)

// Graph is a graph under construction. Its methods record declarations and
// mistakes; Build reports all mistakes at once. Nothing may be declared after
// Build.
type Graph[S any] struct{ graph }

// graph is the part of a Graph that does not depend on the type of the state. Code
// without a type parameter is compiled once; Graph and Flow are compiled for each
// state in each package that uses them, so they only convert.
type graph struct {
	shape
	errs []error
}

// shape holds what was declared. A state here is a pointer to the state struct.
type shape struct {
	name    string
	version int
	zero    func() any          // a new state
	clone   func(state any) any // a shallow copy: it shares what the fields point to
	fields  []*fieldDef
	nodes   []*nodeDef
	start   *nodeDef
}

type nodeDef struct {
	targetRef
	settings
	types []reflect.Type // types stored as JSON: a fan's payload, a gate's question and answer
	run   func(ctx context.Context, state, payload any) (Update, error)
	look  func(ctx context.Context, state any) (u Update, done bool, err error) // for effects

	payloads func([]byte) ([]any, error)            // for fans, from JSON
	ask      func(state any) ([]byte, error)        // for gates
	decide   func(state, value any) (Update, error) // for gates

	to            []targetRef          // edges, or the targets that route may choose
	route         func(state any) Next // nil if there is no route
	before, after bool                 // interrupts
	limited       bool                 // subject to the deadline
}

// leadsTo returns every target that can follow the node, OrElse branches included.
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
	reducer string // "" if a new value replaces the old one
	typ     reflect.Type
	at      func(state any) any // the *T
	get     func(state any) any // the T
	encode  func(v any) (kept any, raw pieces, err error)
	decode  func([]byte) (any, error)
	merge   func(state, v any)
	settle  func(state any) // called after a superstep's merges
}

// node returns the node with that name, or nil.
func (s *shape) node(name string) *nodeDef {
	for _, n := range s.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// New returns an empty graph over the state struct S. Name and version are part
// of every snapshot; raise the version when the meaning of stored data changes.
func New[S any](name string, version int) *Graph[S] {
	return &Graph[S]{graph{shape: shape{
		name: name, version: version,
		zero:  func() any { return new(S) },
		clone: func(state any) any { s := *state.(*S); return &s },
	}}}
}

// refuse records a mistake for Build to report.
func (g *graph) refuse(format string, args ...any) {
	g.errs = append(g.errs, fmt.Errorf(format, args...))
}

// namePattern keeps names safe in Mermaid, JSON and messages.
var namePattern = pattern.Lazy(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

func (g *graph) checkName(what, name string) {
	if !namePattern().MatchString(name) {
		g.refuse("%s %q: a name is a letter and up to 63 letters, digits, dashes and underscores", what, name)
	}
}
