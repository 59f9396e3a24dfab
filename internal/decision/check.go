package decision

import (
	"fmt"
	"slices"
)

// Check holds the decision against the ids of a draft's findings, given in the
// draft's order. The error is an *Error that lists every line that names an
// unknown finding or contradicts an earlier line: two verdicts, one command
// twice for one finding, a dropped finding that is also changed, a finding
// changed under a verdict that posts nothing.
func (d Decision) Check(ids []string) error {
	var bad Error
	seen := map[string]int{} // "/drop F2" -> line
	verdict := 0
	for _, c := range d.Commands {
		if verdictOf(c.Name) == "" {
			bad.add(c, d.conflicts(c, ids, seen)...)
		} else if verdict > 0 {
			bad.add(c, fmt.Sprintf("line %d has decided already", verdict))
		} else {
			verdict = c.Line
		}
	}
	return bad.orNil()
}

// conflicts gives the reasons against one command and notes what it names.
func (d Decision) conflicts(c Command, ids []string, seen map[string]int) []string {
	var reasons []string
	if d.Verdict == Abort || d.Verdict == Revise {
		reasons = append(reasons, "changes a finding, and "+string(d.Verdict)+" posts none")
	}
	for _, id := range c.IDs {
		if !slices.Contains(ids, id) {
			reasons = append(reasons, "this draft has "+known(ids))
			continue
		}
		switch line, other := clash(c.Name, id, seen); {
		case line == c.Line:
			reasons = append(reasons, "names "+id+" twice")
		case line > 0:
			reasons = append(reasons, fmt.Sprintf("line %d has %s %s already", line, other, id))
		}
		seen[c.Name+" "+id] = c.Line
	}
	return slices.Compact(reasons)
}

// clash finds the earlier command that does not go with this one.
func clash(name, id string, seen map[string]int) (line int, other string) {
	for _, other := range []string{"/drop", "/edit", "/summary", "/severity"} {
		line := seen[other+" "+id]
		if line > 0 && (other == name || other == "/drop" || name == "/drop") {
			return line, other
		}
	}
	return 0, ""
}

// known names a draft's ids, which have no gaps.
func known(ids []string) string {
	switch len(ids) {
	case 0:
		return "no findings"
	case 1:
		return ids[0]
	}
	return ids[0] + " to " + ids[len(ids)-1]
}
