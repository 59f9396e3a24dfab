package graph

import (
	"fmt"
	"strings"
)

// Mermaid returns the built graph as a flowchart. Effects have double borders,
// fans are drawn as stacks and gates as rhombi. Routes are dotted, and the branch
// that a fan takes without payloads is labelled "none".
func (f *flow) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	fmt.Fprintf(&b, "    start((start)) --> %s\n", nodeID(f.start.targetRef))
	for _, n := range f.nodes {
		fmt.Fprintf(&b, "    %s%s\n", nodeID(n.targetRef), outline(n))
	}
	drawn := map[string]bool{}
	for _, n := range f.nodes {
		for _, t := range n.leadsTo() {
			if t.kind == kindEnd && !drawn[t.name] {
				drawn[t.name] = true
				fmt.Fprintf(&b, "    %s([%s])\n", nodeID(t), t.name)
			}
		}
	}
	for _, n := range f.nodes {
		drawEdges(&b, n)
	}
	return b.String()
}

func drawEdges(b *strings.Builder, n *nodeDef) {
	from := nodeID(n.targetRef)
	for _, to := range n.to {
		arrow := "-->"
		switch {
		case to.kind == kindFan:
			arrow = "-.->|each|"
		case n.route != nil:
			arrow = "-.->"
		}
		fmt.Fprintf(b, "    %s %s %s\n", from, arrow, nodeID(to))
		if to.orElse != nil {
			fmt.Fprintf(b, "    %s -.->|none| %s\n", from, nodeID(to.orElse.ref()))
		}
	}
}

// nodeID returns an id that is not a Mermaid keyword and keeps ends apart from nodes.
func nodeID(r targetRef) string {
	if r.kind == kindEnd {
		return "e_" + r.name
	}
	return "n_" + r.name
}

func outline(n *nodeDef) string {
	label := n.name
	if n.before {
		label = "pause, then " + label
	}
	if n.after {
		label += ", then pause"
	}
	switch n.kind {
	case kindEffect:
		return fmt.Sprintf(`[["%s"]]`, label)
	case kindFan:
		return fmt.Sprintf(`@{ shape: procs, label: "%s" }`, label)
	case kindGate:
		return fmt.Sprintf(`{"%s"}`, label)
	}
	return fmt.Sprintf(`["%s"]`, label)
}
