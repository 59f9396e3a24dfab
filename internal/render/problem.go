package render

import (
	"strings"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/guard"
)

// Problem is an error as a person sees it: what was wrong, where, what next.
// What and Rows may quote untrusted text.
type Problem struct {
	What string
	Rows [][2]string // label ("where", "next", "draft", "line 2") and text; a label may be empty
}

const problemRunes = 1000 // of one line

// Error is what was wrong, on one line.
func (p *Problem) Error() string { return guard.Line(p.What, problemRunes) }

// Text is the whole problem, one line for each row, ending with a line break.
func (p *Problem) Text() string {
	width := 6
	for _, row := range p.Rows {
		width = max(width, column.Width(guard.Line(row[0], titleRunes)))
	}
	var b strings.Builder
	b.WriteString("error: " + p.Error() + "\n")
	for _, row := range p.Rows {
		label := guard.Line(row[0], titleRunes)
		if label != "" {
			label += strings.Repeat(" ", width-column.Width(label)+2)
		}
		b.WriteString("  " + label + guard.Line(row[1], problemRunes) + "\n")
	}
	return b.String()
}
