package render

import (
	"path"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// secret is the category of findings whose quote is shown instead of the line:
// a credential is masked in it.
const secret = "secret"

const evidenceLines = 12 // of code shown with a finding

// quoted are the lines that a finding is about, or its quote where they are not
// at hand; exact reports which. A quote from outside of the diff was checked
// against nothing, so that none is given.
func (r Review) quoted(f finding.Finding) (rows []string, exact bool) {
	rows, exact = r.replaced(f)
	masked := f.Category == secret
	switch {
	case exact && !masked:
		return rows, true
	case f.Quote == "", !masked && outside(f):
		return nil, exact
	}
	return strings.Split(f.Quote, "\n")[:1], exact
}

// outside reports whether a finding is placed in the body for a reason.
func outside(f finding.Finding) bool { return f.Placement == finding.Body && f.Note != "" }

// evidence is the code that a finding is about, for the draft, without the
// indentation that its lines share.
func (r Review) evidence(f finding.Finding) string {
	rows, _ := r.quoted(f)
	if len(rows) == 0 {
		return ""
	}
	more := len(rows) - evidenceLines
	rows = outdented(rows[:min(len(rows), evidenceLines)])
	if more > 0 {
		rows = append(rows, "… "+Count(more, "more line"))
	}
	return guard.Fence(strings.Join(rows, "\n"), strings.TrimPrefix(path.Ext(f.Path), "."))
}

// outdented takes the white space off the lines that all of them begin with.
func outdented(rows []string) []string {
	shared := ""
	for i, row := range rows {
		lead := row[:len(row)-len(strings.TrimLeft(row, " \t"))]
		if i == 0 {
			shared = lead
		}
		for !strings.HasPrefix(lead, shared) && strings.TrimSpace(row) != "" {
			shared = shared[:len(shared)-1]
		}
	}
	short := make([]string, len(rows))
	for i, row := range rows {
		short[i] = strings.TrimPrefix(row, shared)
	}
	return short
}
