package graph

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// check refuses everything that is wrong with the graph. Reachability is checked
// last, and only if the declarations themselves are valid.
func (g *graph) check() {
	g.checkState()
	if g.start == nil {
		g.refuse("no entry point: name one with Start")
	}
	if len(g.errs) == 0 {
		g.checkReach()
	}
	if len(g.errs) == 0 {
		g.checkParallel()
	}
}

// checkState refuses a part of the state that no field covers, because it would
// be lost at the first pause, and a part that two fields cover.
func (g *graph) checkState() {
	s := g.zero()
	state := reflect.ValueOf(s).Elem()
	parts := map[any]string{} // name of each part of the state, by a pointer to it
	for _, part := range reflect.VisibleFields(state.Type()) {
		if part.Anonymous && part.Type.Kind() == reflect.Struct {
			continue // its fields are separate parts
		}
		at := reflect.NewAt(part.Type, state.FieldByIndex(part.Index).Addr().UnsafePointer())
		parts[at.Interface()] = part.Name
	}
	for _, f := range g.fields {
		at := f.at(s)
		if parts[at] == "" {
			g.refuse("field %q points at no part of the state, or at one that another field has", f.name)
		}
		delete(parts, at)
	}
	for _, name := range slices.Sorted(maps.Values(parts)) {
		g.refuse("%s.%s is in no field of the graph and would be lost", state.Type(), name)
	}
}

// checkReach refuses nodes that cannot be reached, that lead nowhere, or from
// which no end can be reached.
func (g *graph) checkReach() {
	reached := map[string]bool{}
	g.walk(g.start, reached)
	for _, n := range g.nodes {
		switch {
		case !reached[n.name]:
			g.refuse("node %q is unreachable", n.name)
		case len(n.to) == 0:
			g.refuse("node %q leads nowhere: give it an edge, a route or an end", n.name)
		case !g.walk(n, map[string]bool{}):
			g.refuse("no end can be reached from node %q", n.name)
		}
	}
}

// walk marks everything reachable from a node and reports whether that includes an end.
func (g *graph) walk(n *nodeDef, reached map[string]bool) (ends bool) {
	reached[n.name] = true
	for _, t := range n.leadsTo() {
		switch {
		case t.kind == kindEnd:
			ends = true
		case !reached[t.name]:
			ends = g.walk(g.node(t.name), reached) || ends
		}
	}
	return ends
}

// checkParallel refuses unsafe writes by tasks that run in parallel: the tasks of
// one fan, and the branches that several edges of one node start.
func (g *graph) checkParallel() {
	for _, n := range g.nodes {
		g.checkWriters(n.targetRef)
		if n.route == nil {
			g.checkBranches(n.to)
		}
	}
}

// checkBranches follows branches superstep by superstep until they have met. A level
// holds every node that may run in the same superstep. If routes choose between them,
// that is more than any one run visits, so a graph that passes is safe on every route.
func (g *graph) checkBranches(level []targetRef) {
	ran, before := map[string]bool{}, len(g.errs)
	for len(level) > 1 && len(g.errs) == before {
		for i, t := range level {
			switch {
			case t.kind == kindEnd:
				other := level[(i+1)%len(level)]
				g.refuse("end %q can be reached while %q is still to come", t.name, other.name)
			case ran[t.name]:
				g.refuse("node %q can run twice: the branches that lead to it are of different length", t.name)
			}
			ran[t.name] = true
		}
		if len(g.errs) == before {
			g.checkWriters(level...)
		}
		if len(g.errs) == before {
			level = g.successors(level)
		}
	}
}

// successors returns every target that the nodes of a level may lead to.
func (g *graph) successors(level []targetRef) (next []targetRef) {
	for _, from := range level {
		for _, t := range g.node(from.name).leadsTo() {
			switch {
			case !slices.ContainsFunc(next, t.same):
				next = append(next, t)
			case t.kind == kindFan:
				g.refuse("fan %q can be given payloads by two nodes of one step", t.name)
			}
		}
	}
	return next
}

// checkWriters enforces rule G1 for nodes that may run in the same superstep.
func (g *graph) checkWriters(level ...targetRef) {
	for _, f := range g.fields {
		var writers []string
		tasks := 0
		for _, t := range level {
			if n := g.node(t.name); f.reducer == "" && slices.Contains(n.writes, f.fieldID) {
				writers = append(writers, n.name)
				if tasks++; n.kind == kindFan {
					tasks++
				}
			}
		}
		if tasks > 1 {
			g.refuse("field %q has no reducer, and several tasks of one step may write it: %s", f.name,
				strings.Join(writers, ", "))
		}
	}
}
