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

import "fmt"

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

// Target is where an edge or a route may lead: a Node, a Fan or an End.
type Target interface{ ref() targetRef }

type targetRef struct {
	owner  any // the graph that declared it; nil for ends
	name   string
	kind   kind
	orElse Target // of a Fan in a route: where zero payloads lead
}

func (t targetRef) ref() targetRef { return t }

func (t targetRef) same(o targetRef) bool {
	return t.owner == o.owner && t.name == o.name && t.kind == o.kind
}

// End returns the named end of a graph. A graph may have several; equal names
// are one end, and the name is in the result of a run.
func End(name string) Target { return targetRef{name: name, kind: kindEnd} }

// Node is a declared node, for use in the wiring.
type Node struct{ targetRef }

// Fan is a declared node that runs once per payload P, for use in the wiring.
type Fan[P any] struct{ targetRef }

// OrElse returns the fan as a route's target, with the branch to take when it
// is given no payloads. Without it zero payloads are an error.
func (f Fan[P]) OrElse(t Target) Target {
	r := f.targetRef
	r.orElse = t
	return r
}

// Next is what a route chose. The zero value is an error when it is met.
type Next struct {
	to       Target
	payloads []any // each a P of a Fan[P]; nil without Over
}

// To leads to a node or an end.
func To(t Target) Next { return Next{to: t} }

// Over runs the fan once per payload, in one superstep. Zero payloads lead to
// the branch that OrElse declared in the route.
func (f Fan[P]) Over(payloads []P) Next { return Next{to: f, payloads: boxed(payloads)} }

func boxed[P any](payloads []P) []any {
	list := make([]any, len(payloads))
	for i, p := range payloads {
		list[i] = p
	}
	return list
}
