package render

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

// DraftFindings returns a draft's findings for a job's summary, up to limit bytes, and counts the others.
func (r Review) DraftFindings(limit int) string {
	var blocks []string
	size := 0
	for i, f := range r.Findings {
		block := r.draftFinding(f, folds(i, f) || r.Unread(f))
		if size += len(block) + 2; size > limit {
			blocks = append(blocks, leftOut(r.Findings[i:]))
			break
		}
		blocks = append(blocks, block)
	}
	return Paragraphs(blocks...)
}

func (r Review) draftFinding(f finding.Finding, fold bool) string {
	if !fold {
		return Paragraphs(fmt.Sprintf("#### %s · %s · %s", f.ID, f.Severity, r.placeText(f, shortPath(f.Path))),
			r.draftText(f, sentence(f)), r.outlook(f))
	}
	place := wording.Joined(", ", CodeHTML(guard.Line(shortPath(f.Path), TitleRunes)), lines(f))
	if f.Path == "" {
		place = "the pull request"
	}
	summary := fmt.Sprintf("%s · %s · %s: %s", f.ID, f.Severity, place, InlineHTML(PlainTitle(f), TitleRunes))
	return Details(summary, Paragraphs(r.draftText(f, ""), r.outlook(f)))
}

// draftText returns a finding's parts in order: its title, the code it is about, the reason, the
// suggestion. A diff shows code and suggestion in one.
func (r Review) draftText(f finding.Finding, title string) string {
	if patch := r.patch(f); patch != "" {
		return Paragraphs(inParagraph(title, prose(f)), patch)
	}
	evidence := r.evidence(f)
	if evidence == "" {
		return Paragraphs(inParagraph(title, prose(f)), replacement(f))
	}
	return Paragraphs(title, evidence, prose(f), replacement(f))
}

// outlook says how sure the reviewer is and where the finding will appear.
func (r Review) outlook(f finding.Finding) string {
	var parts []string
	switch {
	case f.Source == finding.Model:
		parts = append(parts, fmt.Sprintf("confidence %.2f", f.Confidence))
	case f.Source == finding.Linter:
		parts = append(parts, "found by a linter")
	case !r.Rules:
		parts = append(parts, "found by a rule")
	}
	parts = append(parts, posting(f))
	if f.Note != "" && f.Placement == finding.Inline {
		parts = append(parts, guard.Inline(f.Note, TitleRunes))
	}
	return "*" + wording.UpperFirst(strings.Join(parts, ", ")) + "*"
}

func posting(f finding.Finding) string {
	switch {
	case f.Placement == finding.Inline && canApply(f):
		return "posted inline with this suggestion"
	case f.Placement == finding.Inline && f.SuggestionProblem != "":
		return "posted inline, the suggestion as plain code, since " + guard.Inline(f.SuggestionProblem, TitleRunes)
	case f.Placement == finding.Inline:
		return "posted inline"
	case f.Note != "":
		return "in the body, since " + guard.Inline(f.Note, TitleRunes)
	}
	return "in the body"
}

// Unread reports whether a finding is about a file that was not reviewed. It gets one line in
// a draft.
func (r Review) Unread(f finding.Finding) bool {
	return slices.ContainsFunc(r.Files, func(of finding.FileReview) bool {
		return of.Path == f.Path && of.State == finding.Skipped
	})
}

const (
	evidenceAround = 3 // context lines on each side
	evidenceRows   = 8 // maximum of rows of the diff, without context
)

// Quoted returns the lines that a finding is about or, if they are not available, its quote;
// exact reports which. It returns no quote from outside the diff, since nothing verified it.
func (r Review) Quoted(f finding.Finding) (rows []string, exact bool) {
	shown, _, _ := r.excerpt(f, 0)
	text, masked := sideText(shown, f), f.Category == finding.Secret
	outside := f.Placement == finding.Body && f.Note != ""
	switch {
	case text != "" && !masked:
		return strings.Split(strings.TrimSuffix(text, "\n"), "\n"), true
	case f.Quote == "", !masked && outside:
		return nil, text != ""
	}
	return strings.Split(f.Quote, "\n")[:1], text != ""
}

// evidence returns the code that a finding is about, for the draft: its rows of the diff with
// context, without their common indentation. For a credential it returns the quote, which
// masks it.
func (r Review) evidence(f finding.Finding) string {
	rows, at, end := r.excerpt(f, evidenceAround)
	if f.Category == finding.Secret || len(rows) == 0 {
		return r.quote(f)
	}
	more := end - at + 1 - CodeLines
	if more > 0 {
		rows = rows[:at+CodeLines]
	}
	text := make([]string, len(rows))
	for i, row := range rows {
		text[i] = row.Text
	}
	text = unindent(text)
	for i, row := range rows {
		text[i] = string(rune(row.Op)) + text[i]
	}
	if end-at+1 < len(rows) {
		text = slices.Insert(text, at, "@@ "+lines(f)+" @@") // no row of a diff begins like this
	}
	if more > 0 {
		text = append(text, "… "+wording.Count(more, "more line"))
	}
	return guard.Fence(strings.Join(text, "\n"), "diff")
}

// quote returns the quoted line of a finding whose lines are not available.
func (r Review) quote(f finding.Finding) string {
	rows, _ := r.Quoted(f)
	if len(rows) == 0 {
		return ""
	}
	return guard.Fence(strings.Join(unindent(rows), "\n"), strings.TrimPrefix(path.Ext(f.Path), "."))
}

// unindent removes the white space that all lines begin with.
func unindent(rows []string) []string {
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

// patch returns a suggestion as a diff against the lines it replaces, with three lines of
// context; "" without those lines, and if they contain a credential.
func (r Review) patch(f finding.Finding) string {
	rows, at, end := r.excerpt(f, evidenceAround)
	if len(rows) == 0 || !ShowsSuggestion(f) || f.Category == finding.Secret {
		return ""
	}
	before, after := sideText(rows[:at], f), sideText(rows[end+1:], f)
	patch, _, _ := diff.Between(before+sideText(rows[at:end+1], f)+after,
		before+strings.TrimSuffix(f.Suggestion, "\n")+"\n"+after)
	if patch == "" {
		return ""
	}
	_, changed, _ := strings.Cut(patch, "\n") // without the hunk's header
	changed = strings.TrimSuffix(changed, "\n")
	for strings.HasSuffix(changed, "\n ") { // blank lines at the end
		changed = strings.TrimSuffix(changed, "\n ")
	}
	return guard.Fence(changed, "diff")
}

func sideText(rows []diff.Line, f finding.Finding) string {
	var b strings.Builder
	for _, row := range rows {
		if row.On(string(f.Side)) > 0 {
			b.WriteString(row.Text + "\n")
		}
	}
	return b.String()
}

// excerpt returns the rows of the diff that a finding is about, from at to end, and some
// around them; none if the diff does not show them.
func (r Review) excerpt(f finding.Finding, around int) (rows []diff.Line, at, end int) {
	if r.Hunks == nil || f.StartLine <= 0 || f.StartLine > f.Line {
		return nil, 0, 0
	}
	rows, at, end = diff.Excerpt(r.Hunks(f.Path), string(f.Side), f.StartLine, f.Line, around, evidenceRows)
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Text = strings.TrimSuffix(rows[i].Text, "\r") // of a line that ends in CR LF
	}
	blank := func(row diff.Line) bool { return row.Op == diff.Context && strings.TrimSpace(row.Text) == "" }
	for at > 0 && blank(rows[0]) {
		rows, at, end = rows[1:], at-1, end-1
	}
	for len(rows) > end+1 && blank(rows[len(rows)-1]) {
		rows = rows[:len(rows)-1]
	}
	return rows, at, end
}
