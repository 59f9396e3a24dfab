package prompt

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	lines := make([]string, len(r.Findings))
	for i, f := range r.Findings {
		lines[i] = drafted(f)
	}
	blocks := append(paths(b, in), guidance(b, in)...)
	blocks = append(append(blocks, change(b, in)...), b.Wrap("draft", strings.Join(lines, "\n")),
		b.Wrap("feedback", r.Feedback))
	return fill("redraft-user.md", "notes", notes(in.Path), "language", language(in.Language)+style(in.Style), "status",
		happened(in),
		"part", part(in),
		"blocks", strings.Join(blocks, "\n"))
}

// drafted is a finding of the draft as one line of JSON, in which no text of the
// finding can pass for another one. The id is the one that the approver saw.
func drafted(f finding.Finding) string {
	line, err := json.Marshal(struct {
		ID         string           `json:"id,omitempty"`
		Side       finding.Side     `json:"side"`
		StartLine  int              `json:"start_line"`
		Line       int              `json:"line"`
		Quote      string           `json:"quote"`
		Title      string           `json:"title"`
		Body       string           `json:"body"`
		Category   string           `json:"category"`
		Severity   finding.Severity `json:"severity"`
		Confidence float64          `json:"confidence"`
		Suggestion string           `json:"suggestion"`
	}{f.ID, f.Side, f.StartLine, f.Line, shorten(f.Quote), f.Title, f.Body, f.Category, f.Severity, f.Confidence,
		f.Suggestion}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return "{}" // strings and numbers alone: it cannot be
	}
	return string(line)
}
