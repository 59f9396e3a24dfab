package prompt

import (
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// Revision is what a file's review is to be revised by: the findings that the
// draft has of the file, and what its approver wants to be different. Both are
// untrusted text: feedback may repeat what somebody wrote into the change.
type Revision struct {
	Findings []finding.Finding
	Feedback string
}

// Texts lists all text from outside that the conversation begins with beside the
// file's.
func (r Revision) Texts() []string { return append(Texts(Input{}, r.Findings...), r.Feedback) }

// Redraft returns the user turn that asks for all findings on a file once more, as
// its approver wants them. The system turn is that of Reviewing: the same bytes,
// and the same rules for what a finding is.
func Redraft(b guard.Boundary, in Input, r Revision) string {
	draft := written(r.Findings, func(_ int, w *wire, f finding.Finding) { // under the ids that the approver saw
		w.ID, w.weight = f.ID, &weight{f.Category, f.Severity, f.Confidence, f.Suggestion}
	})
	blocks := append(append(about(b, in), change(b, in)...), b.Wrap("draft", draft), b.Wrap("feedback", r.Feedback))
	return filled("redraft-user.md", in, blocks, "notes", notes(in.Path), "language",
		language(in.Language)+style(in.Style))
}
