package render

import (
	"fmt"
	"slices"
	"strings"

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
