package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// advance schedules the nodes that follow the merged superstep.
func (f *flow) advance(t *thread) error {
	merged := t.frontier
	t.frontier = nil
	for _, e := range merged {
		nexts, err := f.follow(t, e.node)
		if err != nil {
			return err
		}
		for _, n := range nexts {
			switch to := n.to.ref(); {
			case to.kind == kindEnd:
				t.end = to.name // Build ensured that nothing else is left to run
			case t.entry(to.name) == nil: // branches that meet enter the node once
				t.enter(f.node(to.name), n.payloads)
			}
		}
	}
	return f.askGates(t)
}

// follow returns where a node leads: all its edges, or the choice of its route.
func (f *flow) follow(t *thread, node *nodeDef) ([]Next, error) {
	if node.route == nil {
		var all []Next
		for _, target := range node.to {
			all = append(all, To(target))
		}
		return all, nil
	}
	n, err := protect(func() (Next, error) { return node.route(t.state), nil })
	if err != nil {
		return nil, &NodeError{Node: node.name, Task: -1, Err: fmt.Errorf("routing: %w", err)}
	}
	n, err = f.choose(t, node, n)
	return []Next{n}, err
}

// choose checks a route's choice against the targets it declared, and resolves OrElse.
func (f *flow) choose(t *thread, node *nodeDef, n Next) (Next, error) {
	wrong := func(format string, args ...any) (Next, error) {
		return Next{}, fmt.Errorf("route from %q: %s; state: %s", node.name, fmt.Sprintf(format, args...), f.summary(t))
	}
	if n.to == nil {
		return wrong("it returned no target")
	}
	ref := n.to.ref()
	i := slices.IndexFunc(node.to, ref.same)
	switch {
	case i < 0:
		return wrong("it returned %q, which it does not declare", ref.name)
	case ref.kind == kindFan && n.payloads == nil:
		return wrong("it returned fan %q without payloads", ref.name)
	case ref.kind != kindFan || len(n.payloads) > 0:
		return n, nil
	case node.to[i].orElse != nil:
		return To(node.to[i].orElse), nil
	}
	return Next{}, &NodeError{Node: node.name, Task: -1, Err: fmt.Errorf("routing to %q: %w", ref.name, ErrEmptyFan)}
}

// summary returns the JSON of every field, truncated, for an error message.
func (f *flow) summary(t *thread) string {
	var parts []string
	for _, field := range f.fields {
		data, _ := json.Marshal(field.at(t.state), codec) // a field that cannot be encoded is left empty
		parts = append(parts, fmt.Sprintf("%s=%.80s", field.name, data))
	}
	return strings.Join(parts, " ")
}
