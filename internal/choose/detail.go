package choose

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/wording"
)

const (
	codeRows   = 40     // of code, or of a suggestion
	proseRunes = 10_000 // of a finding's text, as in the review
)

// details returns the rows about the finding at the cursor: place, title, code, text,
// suggestion, and how sure the reviewer is. full adds the place, which the list already
// shows.
func (m model) details(full bool) (rows []string) {
	f, c := m.current(), m.changes[m.cursor]
	if full {
		rows = append(rows, m.prose(fmt.Sprintf("%s · %s · %s", f.ID, c.severityAfter(f), render.Place(f)))...)
	}
	for _, row := range m.prose(guard.Line(c.words(f), 0) + guard.Line(claimOf(f), statusRunes)) {
		rows = append(rows, m.paint(terminal.Bold, row))
	}
	rows = append(rows, m.evidence(f)...)
	body, more := wording.Clip(cmp.Or(c.body, strings.TrimSpace(f.Body)), proseRunes)
	rows = append(rows, m.prose(body)...)
	if more > 0 {
		rows = append(rows, m.prose(wording.Count(more, "more character")+" not shown here.")...)
	}
	if f.AlsoSaid() != "" {
		rows = append(rows, m.prose(f.AlsoSaid())...)
	}
	if f.Suggestion != "" {
		intro := "Suggested in its place:"
		if f.SuggestionProblem != "" {
			intro = "Suggested as plain code, since " + guard.Line(f.SuggestionProblem, statusRunes) + ":"
		}
		rows = append(rows, m.prose(intro)...)
		rows = append(rows, m.code(strings.Split(strings.TrimSuffix(f.Suggestion, "\n"), "\n"), func(int) string {
			return "+"
		})...)
	}
	return append(rows, m.prose(m.outlook(f, c))...)
}

// prose guards and wraps text.
func (m model) prose(text string) (rows []string) {
	for _, l := range strings.Split(strings.ReplaceAll(guard.Text(text), "\t", "    "), "\n") {
		rows = append(rows, guardRows(column.Wrap(l, m.width-1), m.width)...)
	}
	return rows
}

// evidence returns the code that a finding is about: its lines, or else its quote.
func (m model) evidence(f finding.Finding) []string {
	lines, exact := m.Review.Quoted(f)
	return m.code(lines, func(i int) string {
		if !exact && f.StartLine != f.Line {
			return "" // the quote may be any of the lines
		}
		return strconv.Itoa(f.StartLine + i)
	})
}

func (m model) code(lines []string, sign func(int) string) (rows []string) {
	for i, l := range lines {
		if i == codeRows {
			return append(rows, column.Cut(column.Pad("", 6)+" │ …", m.width))
		}
		text := guard.Line(strings.ReplaceAll(l, "\t", "    "), 1000)
		rows = append(rows, column.Cut(fmt.Sprintf("%6s │ %s", sign(i), text), m.width))
	}
	return rows
}

// outlook says how sure the reviewer is and where the finding will be posted.
func (m model) outlook(f finding.Finding, c change) string {
	sure := "Found by a rule"
	switch f.Source {
	case finding.Model:
		sure = fmt.Sprintf("Confidence %.2f", f.Confidence)
	case finding.Linter:
		sure = "Found by a linter"
	}
	note := guard.Line(f.Note, statusRunes)
	switch {
	case c.dropped:
		return sure + ". Not posted."
	case c.moved, f.Placement == finding.Body && note == "":
		return sure + ", in the review's summary."
	case f.Placement == finding.Inline && c.severity == finding.Nit:
		return sure + ", in the review's summary, where nits stand."
	case f.Placement == finding.Body:
		return sure + ", in the review's summary, since " + note + "."
	}
	return sure + ", posted at its line."
}
