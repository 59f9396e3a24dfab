package stats

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
)

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
	rows := [][]string{{"repository", "drafts", "posted", "aborted", "cost", "p50 s", "p95 s", "posted, %"}}
	for _, r := range s.Repositories {
		price, p50, p95 := "-", "-", "-"
		if r.Cost != nil {
			price = r.Cost.String()
		}
		if q := r.Seconds; q != nil {
			p50, p95 = fmt.Sprintf("%.1f", q.P50), fmt.Sprintf("%.1f", q.P95)
		}
		rows = append(rows, []string{nameCell(r.Name, 22), fmt.Sprint(r.Drafts), fmt.Sprint(r.Outcomes["POSTED"]),
			fmt.Sprint(r.Outcomes["ABORTED"]), price, p50, p95, r.Findings.Precision.text()})
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
		fmt.Fprintf(&b, "Cost: %s, %s a change", r.Cost, cost.MicroUSD(math.Round(*r.PerPull)))
		if r.Unpriced > 0 {
			fmt.Fprintf(&b, ", and %d calls whose price is not known", r.Unpriced)
		}
		b.WriteString("\n")
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

// byGroups returns a table for each kind of group.
func (s Stats) byGroups() string {
	var tables []string
	for _, block := range []struct {
		name   string
		groups []Group
	}{
		{"severity", s.BySeverity}, {"category", s.ByCategory}, {"source", s.BySource}, {"model", s.ByModel},
		{"rule", s.ByRule}, {"linter", s.ByLinter},
	} {
		rows := [][]string{{block.name, "shown", "posted", "dropped", "edited", "graded", "posted, %"}}
		for _, g := range block.groups {
			row := []string{nameCell(g.Name, 24)}
			for _, n := range []int{g.Found, g.Kept, g.Dropped, g.Edited, g.Regraded} {
				row = append(row, strconv.Itoa(n))
			}
			rows = append(rows, append(row, g.Precision.text()))
		}
		if len(block.groups) > 0 {
			tables = append(tables, table(rows))
		}
	}
	return strings.Join(tables, "\n")
}

// table aligns the rows in columns.
func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // writing to memory
	return b.String()
}

// nameCell cuts a name to a number of runes. It keeps the end: a rule's name follows its linter's.
func nameCell(name string, most int) string {
	all := []rune(guard.Line(name, 0))
	if len(all) > most {
		return "…" + string(all[len(all)-most+1:])
	}
	return string(all)
}

func (i *Interval) text() string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("%s (%s–%s)", percent(i.Value, 0), percent(i.Low, 0), percent(i.High, 0))
}

func percent(v float64, decimals int) string { return strconv.FormatFloat(100*v, 'f', decimals, 64) }
