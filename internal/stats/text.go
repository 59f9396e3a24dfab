package stats

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
)

const textColumns = 80

// Text returns the summary as text of at most 80 columns, inert. The last line ends in a newline.
func (s Summary) Text() string {
	var b strings.Builder
	b.WriteString(s.Runs.Text())
	if len(s.Outcomes) > 0 {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(s.Outcomes)) {
			parts = append(parts, fmt.Sprintf("%d %s", s.Outcomes[name], guard.Line(name, 20)))
		}
		fmt.Fprintf(&b, "Outcomes: %s\n", strings.Join(parts, ", "))
	}
	if len(s.Repositories) > 1 {
		b.WriteString("\n" + s.repositories())
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	b.WriteString(s.Stats.Text())
	for i, u := range s.Unread {
		if i == 0 {
			fmt.Fprintf(&b, "\nNot read, and in no sum: %d repositories\n", len(s.Unread))
		}
		fmt.Fprintf(&b, "  %s\n    %s\n", guard.Line(u.Repository, 76), guard.Line(u.Reason, 74))
	}
	return b.String()
}

// repositories returns a table with a row per repository.
func (s Summary) repositories() string {
	rows := [][]string{{"", "drafts", "posted", "aborted", "cost", "p50 s", "p95 s", "posted, %"}}
	for _, r := range s.Repositories {
		price, p50, p95, rate := "-", "-", "-", "-"
		if r.Cost != nil {
			price = r.Cost.String()
		}
		if q := r.Seconds; q != nil {
			p50, p95 = fmt.Sprintf("%.1f", q.P50), fmt.Sprintf("%.1f", q.P95)
		}
		if p := r.Findings.Precision; p != nil {
			rate = p.text()
		}
		rows = append(rows, []string{guard.Line(r.Name, textColumns), fmt.Sprint(r.Drafts),
			fmt.Sprint(r.Outcomes["POSTED"]), fmt.Sprint(r.Outcomes["ABORTED"]), price, p50, p95, rate})
	}
	return table(rows)
}

// The bounds of the list of pull requests.
const (
	shownPulls = 10
	pullRunes  = 50
)

// Text returns the figures as text of at most 80 columns, inert. It is empty without a draft;
// otherwise the last line ends in a newline.
func (r Runs) Text() string {
	if r.Drafts == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Drafts made: %d (changes: %d)\n", r.Drafts, len(r.Pulls))
	if r.PerPull == nil {
		b.WriteString("Cost: price not known\n")
	} else {
		fmt.Fprintf(&b, "Cost: %s, %s a change%s\n", r.Cost, cost.MicroUSD(math.Round(*r.PerPull)), r.unpricedNote())
	}
	if q := r.Seconds; q != nil {
		fmt.Fprintf(&b, "Time of a draft: p50 %.1f s, p95 %.1f s\n", q.P50, q.P95)
	}
	for _, p := range r.Pulls[:min(len(r.Pulls), shownPulls)] {
		price := "price not known"
		if p.Cost != nil {
			price = p.Cost.String()
		}
		fmt.Fprintf(&b, "  %-*s  %3d  %s\n", pullRunes, guard.Line(p.Name, pullRunes), p.Drafts, price)
	}
	if more := len(r.Pulls) - shownPulls; more > 0 {
		fmt.Fprintf(&b, "  and %d more, which --json lists\n", more)
	}
	return b.String()
}

// unpricedNote returns a note on the calls without a known price, or "".
func (r Runs) unpricedNote() string {
	if r.Unpriced == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d calls whose price is not known", r.Unpriced)
}

// Text returns the figures as text of at most 80 columns, inert. The last line ends in a newline.
func (s Stats) Text() string {
	if s.Drafts == 0 {
		return "No draft was decided yet.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Drafts decided: %d (%d posted, %d aborted)\n", s.Drafts, s.Posted, s.Aborted)
	fmt.Fprintf(&b, "Findings: %d (%d posted, %d dropped with a reason, %d left out unjudged)\n", s.All.Found,
		s.All.Kept, s.All.Dropped, s.All.Unposted)
	if p := s.All.Precision; p != nil {
		fmt.Fprintf(&b, "Precision, posted of those judged: %s %%, 95 %% interval %s to %s %%\n", percent(p.Value, 1),
			percent(p.Low, 1), percent(p.High, 1))
	}
	if s.All.Found > 0 {
		b.WriteString("\n" + s.byGroups())
	}
	return b.String()
}

func (s Stats) byGroups() string {
	rows := [][]string{{"", "shown", "posted", "dropped", "edited", "graded", "posted, %"}}
	for _, block := range []struct {
		name   string
		groups []Group
	}{
		{"severity", s.BySeverity}, {"category", s.ByCategory}, {"source", s.BySource}, {"model", s.ByModel},
		{"rule", s.ByRule}, {"linter", s.ByLinter},
	} {
		if len(block.groups) > 0 {
			rows = append(rows, nil, []string{block.name})
		}
		for _, g := range block.groups {
			rows = append(rows, g.cells())
		}
	}
	return table(rows)
}

// table aligns the rows in columns. The first row must have every cell.
func table(rows [][]string) string {
	widths, room := make([]int, len(rows[0])), textColumns
	for i := len(widths) - 1; i >= 0; i-- {
		for _, row := range rows {
			if i < len(row) {
				widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
			}
		}
		if i > 0 {
			room -= widths[i] + len("  ")
		}
	}
	widths[0] = min(widths[0], room)
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(alignRow(row, widths) + "\n")
	}
	return b.String()
}

func (g Group) cells() []string {
	name, rate := "  "+guard.Line(g.Name, textColumns), "-"
	if p := g.Precision; p != nil {
		rate = p.text()
	}
	row := []string{name}
	for _, n := range []int{g.Found, g.Kept, g.Dropped, g.Edited, g.Regraded} {
		row = append(row, strconv.Itoa(n))
	}
	return append(row, rate)
}

func (i Interval) text() string {
	return fmt.Sprintf("%s (%s–%s)", percent(i.Value, 0), percent(i.Low, 0), percent(i.High, 0))
}

// alignRow aligns names to the left, numbers to the right and the rate to the left.
func alignRow(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		if all := []rune(cell); len(all) > widths[i] { // keep the end: a rule's name follows its linter's
			cell = "  …" + string(all[len(all)-widths[i]+3:])
		}
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
