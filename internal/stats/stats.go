// Package stats sums up what approvers did with findings: which they kept, dropped
// or changed. That is the precision of the reviewer as its approvers see it.
//
// It is pure and reads no store: the caller passes drafts and their decisions, in any
// order. Start reading at Sum, then Habits.
package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/order"
)

// Stats counts the outcomes of drafts and of their findings. Severities are those shown to the
// approver; in records of earlier versions, those after the decision.
type Stats struct {
	Drafts     int     `json:"drafts"`  // posted or aborted
	Posted     int     `json:"posted"`  // approved
	Aborted    int     `json:"aborted"` // aborted as a whole; those drafted again do not count
	All        Tally   `json:"findings"`
	BySeverity []Group `json:"by_severity"` // most severe first
	// most findings first, except BySource; the last group may be "other"
	ByCategory []Group `json:"by_category"`
	BySource   []Group `json:"by_source"` // linter, model, rule
	ByModel    []Group `json:"by_model"`  // findings by a model only
	ByRule     []Group `json:"by_rule"`   // our rules by name, a linter's with the linter's name in front
	ByLinter   []Group `json:"by_linter"`
}

// Group is the tally of the findings with one severity, category, source, model, rule or
// linter. Its name is untrusted text, except for severities and sources.
type Group struct {
	Name  string `json:"name"`
	Tally        // its JSON members are on the same level as name
}

// Tally counts findings. Found is the sum of Kept, Dropped and Unposted. Edited,
// Moved and Regraded are part of Kept, and a finding may be in all three.
type Tally struct {
	Found   int `json:"found"`
	Kept    int `json:"kept"`    // posted
	Dropped int `json:"dropped"` // dropped by id, with a reason
	// not posted, but not judged one by one: in an aborted draft, dropped with others, or without a reason
	Unposted int `json:"unposted"`
	Edited   int `json:"edited"`
	Moved    int `json:"moved"`
	Regraded int `json:"regraded"`

	// Precision is the share of Kept in Kept plus Dropped; nil if both are 0.
	Precision *Interval `json:"precision"`
}

// maxGroups is the number of groups per kind; further ones are combined into the last.
const maxGroups = 20

// judged is a finding of a decided draft, and what happened to it.
type judged struct {
	decision.Shown
	tally Tally
}

// sum returns the sum over verdicts.
func sum(verdicts []decision.Record) Stats {
	s := Stats{Drafts: len(verdicts)}
	var all []judged
	for _, r := range verdicts {
		s.Posted += boolToInt(r.Decision == decision.Approve)
		for _, f := range r.Findings {
			all = append(all, judged{f, outcome(r, f)})
			s.All.add(all[len(all)-1].tally)
		}
	}
	s.Aborted = s.Drafts - s.Posted
	s.All.rate()
	most := func(g Group) int { return -g.Found }
	s.BySeverity = groups(all, func(g Group) int { return -finding.Severity(g.Name).Rank() },
		func(f judged) string { return string(f.Severity) })
	s.ByCategory = groups(all, most, func(f judged) string { return cmp.Or(f.Category, "none") })
	s.BySource = groups(all, func(Group) int { return 0 }, func(f judged) string { return f.Source })
	s.ByModel = groups(all, most, func(f judged) string { return f.Model })
	s.ByRule = groups(all, most, func(f judged) string { return RuleOf(f.Shown) })
	s.ByLinter = groups(all, most, func(f judged) string { return f.Linter })
	return s
}

// groups tallies findings by name, in order of rank and then of name. It leaves out findings
// without a name, and combines the groups beyond maxGroups into one.
func groups(all []judged, rank func(Group) int, name func(judged) string) []Group {
	list := []Group{}
	for _, of := range order.Grouped(all, name) {
		g := Group{Name: name(of[0])}
		for _, f := range of {
			g.add(f.tally)
		}
		if g.Name != "" {
			list = append(list, g)
		}
	}
	order.Stable(list, func(a, b Group) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	if len(list) > maxGroups {
		for _, g := range list[maxGroups:] {
			list[maxGroups-1].add(g.Tally)
		}
		list = list[:maxGroups]
		list[maxGroups-1].Name = "other"
	}
	for i := range list {
		list[i].rate()
	}
	return list
}

// RuleOf returns the name of a finding's rule, with the linter's name in front if it is a
// linter's. It is empty for a model's finding.
func RuleOf(f decision.Shown) string {
	if f.Linter != "" && f.Rule != "" {
		return finding.Origin{Tool: f.Linter}.Name(f.Rule)
	}
	return f.Rule
}

// outcome returns what happened to a finding, as a tally of one.
func outcome(r decision.Record, f decision.Shown) Tally {
	drop := slices.IndexFunc(r.Dropped, func(d decision.Drop) bool { return d.ID == f.ID })
	switch {
	case r.Decision == decision.Abort || drop >= 0 && !r.Dropped[drop].Judged():
		return Tally{Found: 1, Unposted: 1}
	case drop >= 0:
		return Tally{Found: 1, Dropped: 1}
	}
	return Tally{
		Found: 1, Kept: 1,
		Edited:   boolToInt(slices.ContainsFunc(r.Edited, func(e decision.Edit) bool { return e.ID == f.ID })),
		Moved:    boolToInt(slices.ContainsFunc(r.Moved, func(m decision.Move) bool { return m.ID == f.ID })),
		Regraded: boolToInt(slices.ContainsFunc(r.Severity, func(g decision.Regrade) bool { return g.ID == f.ID })),
	}
}

func boolToInt(counts bool) int {
	if counts {
		return 1
	}
	return 0
}

func (t *Tally) add(o Tally) {
	t.Found, t.Kept, t.Dropped, t.Unposted = t.Found+o.Found, t.Kept+o.Kept, t.Dropped+o.Dropped, t.Unposted+o.Unposted
	t.Edited, t.Moved, t.Regraded = t.Edited+o.Edited, t.Moved+o.Moved, t.Regraded+o.Regraded
}

func (t *Tally) rate() { t.Precision = Wilson(t.Kept, t.Kept+t.Dropped) }

// Interval is a share with its 95 % confidence interval, all from 0 to 1 and rounded to four decimals.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// z is the 97.5th percentile of the standard normal distribution.
const z = 1.959963984540054

// Wilson returns the share k of n with Wilson's score interval, which stays accurate near 0 and 1 and for small n (E.
// B. Wilson, 1927). It returns nil if n is 0. It assumes independence, which findings of one draft do not quite have.
func Wilson(k, n int) *Interval {
	if n <= 0 {
		return nil
	}
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return &Interval{Round(p), Round(max(0, middle-half)), Round(min(1, middle+half))}
}

// Binomial returns the probability that exactly k of n happen, each with a probability of share.
func Binomial(k, n int, share float64) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	some, _ := math.Lgamma(float64(k + 1))
	others, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(all - some - others + float64(k)*math.Log(share) + float64(n-k)*math.Log1p(-share))
}

// Round rounds a figure to four decimals, as in reports.
func Round(v float64) float64 { return math.Round(v*1e4) / 1e4 }
