package graph

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
