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
