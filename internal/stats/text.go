package stats

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/guard"
)

const nameRunes = 14 // of a category

// Text shows the figures in at most 80 columns, inert; the last line ends in a
// line feed.
func (s Stats) Text() string {
	if s.Drafts == 0 {
		return "No draft of this store was decided yet.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Drafts decided: %d (%d posted, %d aborted)\n", s.Drafts, s.Posted, s.Aborted)
	fmt.Fprintf(&b, "Findings: %d (%d kept, %d dropped, %d left out unjudged)\n", s.All.Found, s.All.Kept,
		s.All.Dropped, s.All.Unposted)
	if p := s.All.Precision; p != nil {
		fmt.Fprintf(&b, "Kept of those kept or dropped: %s %%, 95 %% interval %s to %s %%\n", percent(p.Value, 1),
			percent(p.Low, 1), percent(p.High, 1))
	}
	if s.All.Found > 0 {
		b.WriteString("\n" + s.table())
	}
	return b.String()
}

func (s Stats) table() string {
	rows := [][]string{{"", "found", "kept", "dropped", "edited", "moved", "graded", "kept, %"}}
	for _, block := range [][]Group{s.BySeverity, s.ByCategory, s.BySource} {
		rows = append(rows, nil)
		for _, g := range block {
			rows = append(rows, g.cells())
		}
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(aligned(row, widths) + "\n")
	}
	return b.String()
}

func (g Group) cells() []string {
	name, rate := guard.Line(g.Name, nameRunes), "-"
	if name == "" {
		name = "none"
	}
	if p := g.Precision; p != nil {
		rate = fmt.Sprintf("%s (%s to %s)", percent(p.Value, 0), percent(p.Low, 0), percent(p.High, 0))
	}
	row := []string{name}
	for _, n := range []int{g.Found, g.Kept, g.Dropped, g.Edited, g.Moved, g.Regraded} {
		row = append(row, strconv.Itoa(n))
	}
	return append(row, rate)
}

// aligned puts names to the left, numbers to the right and the rate to the left.
func aligned(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		switch i {
		case 0:
			b.WriteString(cell + gap)
		case len(row) - 1:
			b.WriteString("  " + cell)
		default:
			b.WriteString("  " + gap + cell)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

func percent(v float64, decimals int) string { return strconv.FormatFloat(100*v, 'f', decimals, 64) }
