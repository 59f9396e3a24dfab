package dataset

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/guard"
)

const (
	maxID         = 200        // bytes; leaves room for an extension in a file name of 255
	maxLineNumber = 10_000_000 // no reviewed file has more lines

	// margin is the number of lines by which the matching rule widens a finding's range.
	margin = 3
)

// check returns all that is wrong with a case, in the order of the format's fields.
func check(c Case) []string {
	reasons := checkFields(c)
	files, reason := newSide(c.Diff)
	if reason != "" {
		reasons = append(reasons, reason)
	}
	for i, g := range c.Golden {
		for _, reason := range g.check(files) {
			reasons = append(reasons, fmt.Sprintf("golden[%d]: %s", i, reason))
		}
	}
	if len(reasons) == 0 {
		return append(checkTree(c), checkTicket(c)...)
	}
	return reasons
}

func checkFields(c Case) (reasons []string) {
	add := func(bad bool, reason string) {
		if bad {
			reasons = append(reasons, reason)
		}
	}
	add(c.ID == "", "id is missing")
	add(c.ID != "" && !validID(c.ID), fmt.Sprintf("id %.60q is not 1 to %d bytes of visible ASCII without slash "+
		"and backslash, as the name of a file", c.ID, maxID))
	add(blank(c.Language), "language is missing")
	add(blank(c.Title), "title is missing")
	add(c.Kind != Bug && c.Kind != Clean, fmt.Sprintf("kind %.40q is neither bug nor clean", c.Kind))
	add(c.Golden == nil, "golden is missing; a clean case has an empty list")
	add(c.Golden != nil && c.Kind == Bug && len(c.Golden) == 0, "kind is bug, but golden is empty")
	add(c.Kind == Clean && len(c.Golden) > 0, "kind is clean, but golden has findings")
	return reasons
}

func validID(id string) bool {
	if id == "" || len(id) > maxID || id == "." || id == ".." {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' || r == '/' || r == '\\' })
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// newSide returns the hunks of every file that exists after the change, or the
// reason why there are none. It gives no reason for an empty text: load has done so.
func newSide(text string) (files map[string][]diff.Hunk, reason string) {
	if text == "" {
		return nil, ""
	}
	changed, err := diff.Parse(strings.NewReader(text), MaxDiff)
	switch {
	case err != nil:
		return nil, fmt.Sprintf("diff: %s", err)
	case len(changed) == 0:
		return nil, "diff: it contains no changed file"
	}
	files = map[string][]diff.Hunk{}
	for _, f := range changed {
		if f.Status != diff.Removed {
			files[f.Path], _ = f.Hunks() // diff.Parse has read them
		}
	}
	return files, ""
}

// check returns what is wrong with a golden finding. files is nil if the diff could
// not be parsed.
func (g Golden) check(files map[string][]diff.Hunk) (reasons []string) {
	if g.Severity != critical && g.Severity.Rank() < 0 {
		reasons = append(reasons, fmt.Sprintf("severity %.40q is not one of critical, major, minor, nit", g.Severity))
	}
	if g.Visibility != Local && g.Visibility != Context {
		reasons = append(reasons, fmt.Sprintf("visibility %.40q is neither local nor context", g.Visibility))
	}
	if blank(g.Issue) {
		reasons = append(reasons, "issue is missing")
	}
	return append(reasons, checkPlaces(g.Places(), files)...)
}

// checkPlaces checks that each place is possible, and that a finding on the diff can hit one.
func checkPlaces(places []Place, files map[string][]diff.Hunk) (reasons []string) {
	within := false
	for i, p := range places {
		if reason := p.check(files); reason != "" {
			if i > 0 {
				reason = fmt.Sprintf("also[%d]: %s", i-1, reason)
			}
			reasons = append(reasons, reason)
		}
		within = within || p.nearHunk(files[p.Path])
	}
	if files != nil && len(reasons) == 0 && !within {
		reasons = append(reasons, fmt.Sprintf("none of its lines is within %d lines of a hunk", margin))
	}
	return reasons
}

func (p Place) check(files map[string][]diff.Hunk) string {
	if reason := p.checkLines(); reason != "" {
		return reason
	}
	if _, ok := files[p.Path]; !ok && files != nil {
		return fmt.Sprintf("path %.200q is not on the new side of the diff", p.Path)
	}
	return ""
}

func (p Place) checkLines() string {
	if p.LineStart < 1 || p.LineEnd < p.LineStart || p.LineEnd > maxLineNumber {
		return fmt.Sprintf("lines %d to %d are not a range of lines, counted from 1", p.LineStart, p.LineEnd)
	}
	return ""
}

// nearHunk reports whether a line of the place is in or near a hunk. A hunk that only
// removes lines lies between two lines of the new side.
func (p Place) nearHunk(hunks []diff.Hunk) bool {
	for _, h := range hunks {
		last := h.NewStart + max(h.NewLines-1, 0)
		if h.NewLines == 0 {
			last++
		}
		if p.LineStart <= last+margin && p.LineEnd >= h.NewStart-margin {
			return true
		}
	}
	return false
}

// Problem is a mistake in a file of cases.
type Problem struct {
	File   string // as the user named it
	Line   int    // 1-based; 1 for a problem of the whole file
	ID     string // the case's; "-" if it cannot be read
	Reason string
}

// String returns the problem as one line that is safe for a terminal:
// file:line: id: reason.
func (p Problem) String() string {
	return guard.Line(fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.ID, p.Reason), 0)
}

// Problems reports that case files cannot be used. It lists everything that is
// wrong with any of them, by file and line.
type Problems []Problem

// Error returns one line per problem.
func (p Problems) Error() string {
	lines := make([]string, 0, len(p))
	for _, one := range p {
		lines = append(lines, one.String())
	}
	return strings.Join(lines, "\n")
}
