package stats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/order"
)

// Whole gathers the runs of repositories. Unread are those that could not be read.
type Whole struct {
	Runs   []Run
	Unread []Unread
}

// Unread is a repository that is in no sum, and why: one line, inert.
type Unread struct {
	Repository string `json:"repository"`
	Reason     string `json:"reason"`
}

// Summary is what all runs came to, as JSON has it.
type Summary struct {
	Stats
	Runs         Runs           `json:"runs"`
	Outcomes     map[string]int `json:"outcomes"`
	Repositories []Repository   `json:"repositories"` // with a draft, the one with most first
	Unread       []Unread       `json:"unread"`
}

// Repository is what the drafts of one repository came to.
type Repository struct {
	Name     string         `json:"name"`
	Drafts   int            `json:"drafts"`
	Outcomes map[string]int `json:"outcomes"`
	Cost     *cost.MicroUSD `json:"cost_microusd"` // nil where no price is known
	Seconds  *Quantile      `json:"seconds"`       // of a draft; nil where none noted it
	Findings Tally          `json:"findings"`
}

// Sum sums everything up.
func (w Whole) Sum() Summary {
	s := Summary{Stats: Sum(Records(w.Runs)), Runs: Add(slices.Values(w.Runs)), Outcomes: outcomes(w.Runs),
		Repositories: []Repository{}, Unread: append([]Unread{}, w.Unread...)}
	of := map[string][]Run{}
	for _, r := range w.Runs {
		of[r.Repository] = append(of[r.Repository], r)
	}
	for name, runs := range of {
		added := Add(slices.Values(runs))
		one := Repository{Name: name, Drafts: added.Drafts, Outcomes: outcomes(runs), Seconds: added.Seconds,
			Findings: Sum(Records(runs)).All}
		if added.PerPull != nil {
			one.Cost = &added.Cost
		}
		s.Repositories = append(s.Repositories, one)
	}
	order.Stable(s.Repositories, func(a, b Repository) int {
		return cmp.Or(cmp.Compare(b.Drafts, a.Drafts), cmp.Compare(a.Name, b.Name))
	})
	return s
}

func outcomes(runs []Run) map[string]int {
	all := map[string]int{}
	for _, r := range runs {
		all[r.Outcome]++
	}
	return all
}

// Text shows everything in at most 80 columns, inert; the last line ends in a line feed.
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

// repositories are a row each.
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
