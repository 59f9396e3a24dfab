package choose

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/wording"
)

const (
	statusRunes = 400 // of a message, a question's facts or a title
	askRows     = 4   // of a question, or of a line being typed
)

func (m model) paint(code, s string) string { return terminal.Paint(m.Color, code, s) }

// View draws the terminal: exactly its height in rows, none wider than it. The last row
// always shows the keys.
func (m model) View() string {
	head, foot := m.head(), m.foot()
	rows := m.middle(m.space())
	for len(head)+len(rows)+len(foot) < m.height {
		rows = append(rows, "")
	}
	rows = append(append(head, rows...), foot...)
	return strings.Join(rows[max(0, len(rows)-m.height):], "\n")
}

// space returns how many rows there are between head and foot.
func (m model) space() int { return max(1, m.height-len(m.head())-len(m.foot())) }

// head returns the rows that say what is decided; a low terminal has no room for them.
func (m model) head() []string {
	if m.height < 10 {
		return nil
	}
	title := "Review of " + guard.Line(m.Review.Name, statusRunes)
	if t := guard.Line(strings.TrimSpace(m.Review.Title), statusRunes); t != "" {
		title += ": " + t
	}
	facts := finding.Counts(m.Review.Findings)
	if t := tally(m.changes); t != "" {
		facts += " · " + t
	}
	until := " · until " + wording.Minute(m.Expires)
	if !m.Expires.IsZero() && column.Width(facts+until) <= m.width {
		facts += until
	}
	return []string{m.paint(terminal.Bold, column.Cut(title, m.width)), column.Cut(facts, m.width), ""}
}

// foot returns the current question or status, and the keys.
func (m model) foot() (rows []string) {
	words := m.question.words
	if m.question.answer == nil {
		words = m.status
	}
	for _, row := range guardRows(limited(column.Wrap(words, m.width), askRows), m.width) {
		rows = append(rows, m.paint(terminal.Bold, row))
	}
	if m.question.typing {
		rows = append(rows, m.question.line.rows(m.width, askRows)...)
	}
	return append(rows, m.keyRow())
}

func limited(rows []string, most int) []string {
	if len(rows) > most {
		rows = append(rows[:most-1:most-1], rows[most-1]+" …")
	}
	return rows
}

// middle returns the rows between head and foot, at most n.
func (m model) middle(n int) []string {
	if m.screen == list {
		return m.listAndPane(n)
	}
	rows := m.pageText()
	rows = rows[min(m.scroll, len(rows)):]
	return m.shorten(rows, n, "more below")
}

// shorten cuts rows to n, and says in the last one how many are missing.
func (m model) shorten(rows []string, n int, where string) []string {
	if len(rows) <= n || n < 2 {
		return rows[:min(n, len(rows))]
	}
	note := column.Cut(fmt.Sprintf("… %s %s", wording.Count(len(rows)-n+1, "row"), where), m.width)
	return append(rows[:n-1:n-1], m.paint(terminal.Dim, note))
}

// pageText returns all rows of a screen that scrolls, which the list does not.
func (m model) pageText() []string {
	switch m.screen {
	case list:
		return nil
	case detail:
		return m.details(true)
	case preview:
		return m.prose(strings.TrimSpace(m.page))
	}
	return m.helpRows()
}

// listRows returns how many findings the list shows at a time: as many as the details of the
// current one leave room for, and at least half the rows.
func (m model) listRows() int {
	if len(m.changes) == 0 {
		return 1
	}
	n := m.space()
	return max(1, min(max(n/2, n-1-len(m.details(false))), len(m.changes)))
}

// listAndPane returns the list around the cursor, and below it the finding at the cursor.
func (m model) listAndPane(n int) (rows []string) {
	if len(m.changes) == 0 {
		return []string{column.Cut("Nothing was found; what is posted has no findings.", m.width)}
	}
	shown := m.listRows()
	from := max(0, min(m.cursor-n/4, len(m.changes)-shown)) // independent of the pane, so that the first row stays
	for i := from; i < from+shown; i++ {
		rows = append(rows, m.row(i))
	}
	if len(rows) == n {
		return rows
	}
	border := fmt.Sprintf("── %d of %d ", m.cursor+1, len(m.changes))
	border += strings.Repeat("─", max(0, m.width-column.Width(border)))
	rows = append(rows, m.paint(terminal.Dim, column.Cut(border, m.width)))
	return append(rows, m.shorten(m.details(false), n-len(rows), "more, enter shows all")...)
}

// row returns one finding of the list: ID, severity, place and title.
func (m model) row(i int) string {
	f, c := m.Review.Findings[i], m.changes[i]
	mark := "  "
	if i == m.cursor {
		mark = "> "
	}
	grade := string(c.severityAfter(f))
	id := mark + column.Pad(guard.Line(f.ID, 10), len(fmt.Sprintf("F%d", len(m.changes)))) + " "
	claim := guard.Line(c.words(f), statusRunes) + guard.Line(claimOf(f), statusRunes)
	places := min(m.places, m.width*3/10)
	place := column.Pad(column.CutFront(render.Place(f), places), places)
	head := column.Cut(id+column.Pad(grade, len("blocker"))+"  ", m.width)
	tail := column.Cut(place+"  "+claim, m.width-column.Width(head))
	if i == m.cursor {
		head, tail = m.paint(terminal.Bold, head), m.paint(terminal.Bold, tail)
	}
	if code := terminal.SeverityColor(c.severityAfter(f)); m.Color && code != "" {
		head = strings.Replace(head, " "+grade, " "+m.paint(code, grade), 1)
	}
	return head + tail
}

// claimOf returns a finding's title, unguarded.
func claimOf(f finding.Finding) string { return strings.TrimSuffix(strings.TrimSpace(f.Title), ".") }
