package graph

import (
	"fmt"
	"slices"
)

// Start sets the entry point, a single node that is not a Fan.
func (g *graph) Start(t Target) {
	n := g.declared("entry point", t)
	switch {
	case n == nil:
	case g.start != nil:
		g.refuse("2 entry points: %q, %q", g.start.name, n.name)
	case n.kind == kindFan:
		g.refuse("entry point %q needs payloads, and only a route gives them", n.name)
	default:
		g.start = n
	}
}

// Edge makes the node to run after each run of the node from. Several edges from one
// node run their targets in parallel in one superstep; such branches must end or meet
// again at the same step, which Build checks. A node has either edges or a route.
func (g *graph) Edge(from, to Target) {
	n := g.declared("start of an edge", from)
	if n == nil {
		return
	}
	t, ok := g.resolve(fmt.Sprintf("edge from %q", n.name), to)
	switch {
	case !ok:
	case n.route != nil:
		g.refuse("node %q has edges and a route", n.name)
	case t.kind == kindFan:
		g.refuse("edge from %q leads to fan %q, which needs payloads: use a route", n.name, t.name)
	case slices.ContainsFunc(n.to, t.same):
		g.refuse("edge from %q to %q is declared twice", n.name, t.name)
	default:
		n.to = append(n.to, t)
	}
}

// Route calls the function by with the merged state after each run of from. It
// chooses what runs next, one of the targets in to. It must be pure: it is called
// again when a run resumes after a crash.
func (g *Graph[S]) Route(from Target, by func(S) Next, to ...Target) {
	var choose func(any) Next
	if by != nil {
		choose = func(state any) Next { return by(*state.(*S)) }
	}
	g.route(from, choose, to)
}

func (g *graph) route(from Target, by func(state any) Next, to []Target) {
	n := g.declared("start of a route", from)
	if n == nil {
		return
	}
	what := fmt.Sprintf("route from %q", n.name)
	switch {
	case by == nil:
		g.refuse("%s has no function", what)
	case len(to) == 0:
		g.refuse("%s names no target", what)
	case n.route != nil:
		g.refuse("node %q has two routes", n.name)
	case len(n.to) > 0:
		g.refuse("node %q has edges and a route", n.name)
	}
	n.route, n.to = by, nil
	for _, target := range to {
		t, ok := g.resolve(what, target)
		switch {
		case !ok:
		case slices.ContainsFunc(n.to, t.same):
			g.refuse("%s names %q twice", what, t.name)
		default:
			n.to = append(n.to, t)
		}
	}
}

// InterruptBefore pauses the run each time before one of the nodes runs. The
// pause is resumed like a gate named "before:<node>" that takes no value.
func (g *graph) InterruptBefore(ts ...Target) {
	g.interrupt(ts, func(n *nodeDef) { n.before = true })
}

// InterruptAfter pauses the run each time one of the nodes has run and its update was
// merged. The pause is resumed like a gate named "after:<node>" that takes no value.
func (g *graph) InterruptAfter(ts ...Target) {
	g.interrupt(ts, func(n *nodeDef) { n.after = true })
}

func (g *graph) interrupt(ts []Target, mark func(*nodeDef)) {
	for _, t := range ts {
		if n := g.declared("interrupt", t); n != nil {
			mark(n)
		}
	}
}

// declared returns the node that a target refers to, or refuses the target and returns nil.
func (g *graph) declared(what string, target Target) *nodeDef {
	t, ok := g.resolve(what, target)
	if !ok {
		return nil
	}
	if t.kind == kindEnd {
		g.refuse("%s: %q is an end", what, t.name)
		return nil
	}
	return g.node(t.name)
}

// resolve refuses a target that is neither an end nor a node of this graph.
func (g *graph) resolve(what string, target Target) (t targetRef, ok bool) {
	if target == nil {
		g.refuse("%s: target is missing", what)
		return t, false
	}
	t = target.ref()
	switch {
	case t.kind == kindEnd:
		g.checkName(what+": end", t.name)
	case t.owner != any(g):
		g.refuse("%s: %q is not a node of this graph", what, t.name)
		return t, false
	case t.orElse != nil:
		if other, ok := g.resolve(what+": empty branch", t.orElse); ok && other.kind == kindFan {
			g.refuse("%s: the empty branch of %q is a fan, which would have no payloads", what, t.name)
		}
	}
	return t, true
}

// Target is where an edge or a route may lead: a Node, a Fan or an End.
type Target interface{ ref() targetRef }

type targetRef struct {
	owner  any // the graph that declared it; nil for ends
	name   string
	kind   kind
	orElse Target // for a Fan in a route: the target if there are no payloads
}

func (t targetRef) ref() targetRef { return t }

func (t targetRef) same(o targetRef) bool {
	return t.owner == o.owner && t.name == o.name && t.kind == o.kind
}

// End returns the named end of a graph. A graph may have several ends; equal
// names mean the same end. A run's result names the end it reached.
func End(name string) Target { return targetRef{name: name, kind: kindEnd} }

// Node is a declared node, for use in edges and routes.
type Node struct{ targetRef }

// Fan is a declared node that runs once per payload P, for use in routes.
type Fan[P any] struct{ targetRef }

// OrElse returns the fan as a route's target, together with the branch to take if
// there are no payloads. Without OrElse, zero payloads are an error.
func (f Fan[P]) OrElse(t Target) Target {
	r := f.targetRef
	r.orElse = t
	return r
}

// Next is the choice of a route. Returning the zero value is an error.
type Next struct {
	to       Target
	payloads []any // each a P of a Fan[P]; nil unless Over was called
}

// To chooses a node or an end.
func To(t Target) Next { return Next{to: t} }

// Over runs the fan once per payload, in one superstep. Without payloads the run
// takes the branch declared with OrElse.
func (f Fan[P]) Over(payloads []P) Next { return Next{to: f, payloads: toAny(payloads)} }

func toAny[P any](payloads []P) []any {
	list := make([]any, len(payloads))
	for i, p := range payloads {
		list[i] = p
	}
	return list
}

type kind string

const (
	kindNode   kind = "node"
	kindEffect kind = "effect"
	kindFan    kind = "fan"
	kindGate   kind = "gate"
	kindEnd    kind = "end"
)
