package render

import (
	"path"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
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

// patch is a suggestion as a diff against the lines it replaces, with one line
// of context; empty without those lines, and where a credential stands in them.
func (r Review) patch(f finding.Finding) string {
	old, ok := r.replaced(f)
	if !ok || !showsSuggestion(f) || f.Category == secret {
		return ""
	}
	before, after := r.context(f, f.StartLine-1), r.context(f, f.Line+1)
	patch, _, _ := diff.Between(before+strings.Join(old, "\n")+"\n"+after,
		before+strings.TrimSuffix(f.Suggestion, "\n")+"\n"+after)
	if patch == "" {
		return ""
	}
	_, rows, _ := strings.Cut(patch, "\n") // without the hunk's header
	return guard.Fence(strings.TrimSuffix(rows, "\n"), "diff")
}

// context is a line of the finding's file, empty where the diff has none.
func (r Review) context(f finding.Finding, line int) string {
	text, ok := r.Lines(f.Path, f.Side, line)
	if !ok {
		return ""
	}
	return text + "\n"
}

// replaced are the lines that the finding is about.
func (r Review) replaced(f finding.Finding) (old []string, ok bool) {
	if r.Lines == nil || f.StartLine <= 0 || f.StartLine > f.Line {
		return nil, false
	}
	for n := f.StartLine; n <= f.Line; n++ {
		text, ok := r.Lines(f.Path, f.Side, n)
		if !ok {
			return nil, false
		}
		old = append(old, text)
	}
	return old, true
}
