package graph

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

type kind string

const (
	kindNode   kind = "node"
	kindEffect kind = "effect"
	kindFan    kind = "fan"
	kindGate   kind = "gate"
	kindEnd    kind = "end"
)
