// Package stats sums what approvers did with findings: which they kept, dropped
// or changed. That is the precision of the reviewer as its approvers see it.
//
// It is pure and reads no store: the caller hands over decisions on record, in any
// order. Start reading at Sum.
package stats

import (
	"cmp"
	"iter"
	"slices"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/order"
)

// Stats are the outcomes of a number of drafts. Severities are those that the approver
// was shown; in records of earlier versions, those after the decision.
type Stats struct {
	Drafts     int     `json:"drafts"`  // that were posted or aborted
	Posted     int     `json:"posted"`  // after an approval
	Aborted    int     `json:"aborted"` // as a whole; those drafted again are not counted
	All        Tally   `json:"findings"`
	BySeverity []Group `json:"by_severity"` // gravest first
	// most findings first, as all that follow; the last may be "other"
	ByCategory []Group `json:"by_category"`
	BySource   []Group `json:"by_source"` // model, rule, linter
	ByModel    []Group `json:"by_model"`  // of findings that are a model's
	ByRule     []Group `json:"by_rule"`   // ours by name, a linter's behind the linter's
	ByLinter   []Group `json:"by_linter"`
}

// Group is the tally of the findings with one severity, category, source, model, rule or
// linter. Its name is untrusted text, but for severities and sources.
type Group struct {
	Name  string `json:"name"`
	Tally        // its members stand beside name
}

// Tally counts findings. Found is the sum of Kept, Dropped and Unposted; Edited,
// Moved and Regraded are among the kept, and one finding may be in all three.
type Tally struct {
	Found   int `json:"found"`
	Kept    int `json:"kept"`    // and posted
	Dropped int `json:"dropped"` // by their ids, with a reason
	// left out where nobody judged them one by one: in drafts that were aborted, with others, or without a reason
	Unposted int `json:"unposted"`
	Edited   int `json:"edited"`
	Moved    int `json:"moved"`
	Regraded int `json:"regraded"`

	// Precision is kept among kept and dropped; nil for none of either.
	Precision *Interval `json:"precision"`
}

// maxGroups is how many groups of a kind have a row of their own.
const maxGroups = 20

// Verdicts are the records that are somebody's verdict on a draft, each draft's once: none
// of a revision, or of a draft that was drafted again.
func Verdicts(all iter.Seq[decision.Record]) iter.Seq[decision.Record] {
	return func(yield func(decision.Record) bool) {
		seen := map[string]bool{}
		for r := range all {
			if seen[r.Digest] || r.Withdrawn() || r.Decision == decision.Revise {
				continue
			}
			seen[r.Digest] = true
			if !yield(r) {
				return
			}
		}
	}
}

// Sum adds up the verdicts among decisions on record.
func Sum(all iter.Seq[decision.Record]) Stats {
	var s Stats
	severities, categories, sources := tallies{}, tallies{}, tallies{}
	models, rules, linters := tallies{}, tallies{}, tallies{}
	for r := range Verdicts(all) {
		s.Drafts++
		if r.Decision == decision.Approve {
			s.Posted++
		} else {
			s.Aborted++
		}
		for _, f := range r.Findings {
			came := outcome(r, f)
			s.All.add(came)
			severities.add(string(f.Severity), came)
			categories.add(cmp.Or(f.Category, "none"), came)
			sources.add(f.Source, came)
			models.add(f.Model, came)
			rules.add(RuleOf(f), came)
			linters.add(f.Linter, came)
		}
	}
	s.All.rate()
	s.BySeverity = severities.groups(func(g Group) int { return -finding.Severity(g.Name).Rank() })
	most := func(g Group) int { return -g.Found }
	s.ByCategory, s.BySource = few(categories.groups(most)), sources.groups(func(Group) int { return 0 })
	s.ByModel, s.ByRule, s.ByLinter = few(models.groups(most)), few(rules.groups(most)), few(linters.groups(most))
	return s
}

// RuleOf is the name of the rule that a finding is of, behind that of its linter where it
// is one's; empty for a model's.
func RuleOf(f decision.Shown) string {
	if f.Linter != "" && f.Rule != "" {
		return finding.Origin{Tool: f.Linter}.Name(f.Rule)
	}
	return f.Rule
}

// outcome is what became of a finding, counted once.
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
		Edited:   one(slices.ContainsFunc(r.Edited, func(e decision.Edit) bool { return e.ID == f.ID })),
		Moved:    one(slices.ContainsFunc(r.Moved, func(m decision.Move) bool { return m.ID == f.ID })),
		Regraded: one(slices.ContainsFunc(r.Severity, func(g decision.Regrade) bool { return g.ID == f.ID })),
	}
}

func one(counts bool) int {
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

// tallies are those of groups by their names.
type tallies map[string]*Tally

// add counts a finding for its group, where it has one.
func (all tallies) add(name string, came Tally) {
	if name == "" {
		return
	}
	if all[name] == nil {
		all[name] = &Tally{}
	}
	all[name].add(came)
}

// groups lists tallies by a rank, and by name where that is equal.
func (all tallies) groups(rank func(Group) int) []Group {
	list := make([]Group, 0, len(all))
	for name, t := range all {
		t.rate()
		list = append(list, Group{name, *t})
	}
	order.Stable(list, func(a, b Group) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// few puts the smallest groups into one.
func few(list []Group) []Group {
	if len(list) <= maxGroups {
		return list
	}
	rest := Group{Name: "other"}
	for _, g := range list[maxGroups-1:] {
		rest.add(g.Tally)
	}
	rest.rate()
	return append(list[:maxGroups-1:maxGroups-1], rest)
}
