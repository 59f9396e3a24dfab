package decision

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/order"
)

// Check validates the decision against a draft's items and returns it with ranges, severities,
// paths and /keep expanded into drops and moves. On failure it returns an *Error that lists every
// line which names an unknown finding, matches nothing or contradicts another line. For a draft
// of files it also refuses any change but leaving files out, and a decision that leaves none.
func (d Decision) Check(draft []Item) (Decision, error) {
	c := checking{decision: d, seen: map[string]int{}}
	for _, item := range draft {
		if item.Posted {
			c.posted = append(c.posted, item.ID)
		} else {
			c.draft = append(c.draft, item)
		}
	}
	c.decision.Drop, c.decision.Move = slices.Clone(d.Drop), slices.Clone(d.Move)
	var verdict Command
	for _, line := range d.Commands {
		switch {
		case verdictOf(line.Name) == "":
			c.bad.add(line, c.checkCommand(line)...)
		case verdict.Line > 0 && (line.Name != verdict.Name || line.Name == "/revise"):
			c.bad.add(line, fmt.Sprintf("line %d has decided already", verdict.Line))
		default:
			verdict = line
		}
	}
	c.applySelectors()
	if consistsOfFiles(c.draft) && len(c.decision.Drop) >= len(c.draft) && len(c.bad.Lines) == 0 {
		c.bad.add(Command{}, "nothing is left to apply: abort the draft instead")
	}
	order.Stable(c.bad.Lines, func(a, b BadLine) int { return cmp.Compare(a.Line, b.Line) })
	return c.decision, c.bad.orNil()
}

type checking struct {
	decision Decision
	draft    []Item
	posted   []string       // IDs of findings that earlier reviews posted
	seen     map[string]int // "/drop F2" -> line
	bad      Error
}

// checkCommand returns the reasons to refuse one command, and records the IDs that it names.
func (c *checking) checkCommand(line Command) []string {
	var reasons []string
	if v := c.decision.Verdict; v == Abort || v == Revise {
		reasons = append(reasons, "changes a finding, and "+string(v)+" posts none")
	}
	if consistsOfFiles(c.draft) && (len(line.IDs) > 0 ||
		slices.ContainsFunc(line.picks, func(p pick) bool { return p.how != ByGlob })) {
		return append(reasons, byPaths)
	}
	for _, id := range c.namedIDs(line) {
		wrong, named := c.refuseEnd(line, id), func(f Item) bool { return f.ID == id }
		switch at, other := c.findClash(line.Name, id); {
		case id == OverviewID && line.Name != "/drop" && line.Name != "/edit":
			reasons = append(reasons, id+" is the overview, which is dropped or edited")
		case wrong != "":
			reasons = append(reasons, wrong)
		case id != OverviewID && !slices.Contains(c.posted, id) && !slices.ContainsFunc(c.draft, named):
			reasons = append(reasons, "this draft has "+idRange(c.draft))
		case at == line.Line:
			reasons = append(reasons, "names "+id+" twice")
		case at > 0:
			reasons = append(reasons, fmt.Sprintf("line %d has %s %s already", at, other, id))
		}
		c.seen[line.Name+" "+id] = line.Line
	}
	return reasons
}

// refuseEnd explains why a command does not end a finding that an earlier review posted. It
// returns "" if the command does, or is about something else.
func (c *checking) refuseEnd(line Command, id string) string {
	if !slices.Contains(c.posted, id) || line.Name == "/drop" && line.reason != "" && slices.Contains(line.IDs, id) {
		return ""
	}
	return id + " is posted: to close it, name its own id and a reason, /drop " + id + ": REASON"
}

// namedIDs returns the findings that a command names, with the ends of its ranges. Unless the
// command is /drop, it also returns those inside the ranges.
func (c *checking) namedIDs(line Command) []string {
	all := slices.Clone(line.IDs)
	for _, p := range line.picks {
		if p.how != ByRange {
			continue
		}
		for _, end := range []int{p.from, p.to} {
			if !slices.ContainsFunc(c.draft, func(f Item) bool { return findingNumber(f.ID) == end }) {
				return append(all, fmt.Sprintf("F%d", end))
			}
		}
		for _, f := range c.draft {
			if line.Name == "/drop" || !p.matches(f) || slices.Contains(all, f.ID) {
				continue
			}
			if all = append(all, f.ID); line.Name == "/summary" {
				c.decision.Move = append(c.decision.Move, Move{ID: f.ID, Reason: line.reason})
			}
		}
	}
	return all
}

func (c *checking) findClash(name, id string) (line int, other string) {
	for _, other := range []string{"/drop", "/keep", "/edit", "/summary", "/severity"} {
		line := c.seen[other+" "+id]
		if line > 0 && (other == name || other == "/drop" || name == "/drop") {
			return line, other
		}
	}
	return 0, ""
}

// applySelectors drops the findings that ranges, severities, globs and /keep select, except blockers.
func (c *checking) applySelectors() {
	for _, line := range c.decision.Commands {
		for _, p := range line.picks {
			if line.Name == "/drop" && !c.dropSelected(line, p.text, p.how, p.matches) {
				break
			}
		}
	}
	keep := slices.IndexFunc(c.decision.Commands, func(l Command) bool { return l.Name == "/keep" })
	if keep >= 0 {
		others := func(f Item) bool { return c.seen["/keep "+f.ID] == 0 }
		c.dropSelected(c.decision.Commands[keep], "", ByKeep, others)
	}
}

// dropSelected drops the findings that one selector matches. It returns false if that added a bad line.
func (c *checking) dropSelected(line Command, what string, how How, stands func(Item) bool) bool {
	some, blockers, before := false, "", len(c.bad.Lines)
	for _, f := range c.draft {
		switch {
		case !stands(f):
		case f.Severity == Blocker:
			blockers = f.ID
		default:
			some = true
			c.dropFinding(line, f.ID, how)
		}
	}
	switch {
	case some || how == ByKeep || c.seen["/drop "+blockers] > 0:
	case blockers != "":
		c.bad.add(line, ownID+", and this matches nothing else")
	default:
		named := "finding, severity or path"
		if consistsOfFiles(c.draft) {
			named = "path"
		}
		c.bad.add(line, fmt.Sprintf("%q is not a %s of this draft; a reason goes after a colon",
			guard.Line(what, shownText), named))
	}
	return len(c.bad.Lines) == before
}

// dropFinding drops a finding unless another line keeps or changes it.
func (c *checking) dropFinding(line Command, id string, how How) {
	for _, other := range []string{"/keep", "/edit", "/summary", "/severity"} {
		if at := c.seen[other+" "+id]; at > 0 {
			c.bad.add(line, fmt.Sprintf("drops %s, and line %d has %s %s", id, at, other, id))
			return
		}
	}
	if !slices.ContainsFunc(c.decision.Drop, func(d Drop) bool { return d.ID == id }) {
		c.decision.Drop = append(c.decision.Drop, Drop{id, line.reason, how})
	}
}

func idRange(draft []Item) string {
	switch len(draft) {
	case 0:
		return "no findings"
	case 1:
		return draft[0].ID
	}
	return draft[0].ID + " to " + draft[len(draft)-1].ID
}
