// Package stats sums what approvers did with findings: which they kept, dropped
// or changed. That is the precision of the reviewer as its approvers see it.
//
// It is pure and reads no store: the caller hands over decided drafts, in any
// order. Start reading at Sum.
package stats

import (
	"cmp"
	"iter"
	"slices"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
)

// Decided is a draft with its decision. Findings are those of the thread once it
// was decided, with what was dropped and what was filtered before.
type Decided struct {
	Findings []finding.Finding
	Record   decision.Record
}

// Stats are the outcomes of a number of drafts. Severities and categories are
// those after the decision: a record does not say what a finding was before.
type Stats struct {
	Drafts     int     `json:"drafts"`  // that were posted or aborted
	Posted     int     `json:"posted"`  // after an approval
	Aborted    int     `json:"aborted"` // as a whole; those drafted again are not counted
	All        Tally   `json:"findings"`
	BySeverity []Group `json:"by_severity"` // gravest first
	ByCategory []Group `json:"by_category"` // most findings first; the last may be "other"
	BySource   []Group `json:"by_source"`   // model, rule
}

// Group is the tally of the findings with one severity, category or source. A
// category is untrusted text.
type Group struct {
	Name  string `json:"name"`
	Tally        // its members stand beside name
}

// Tally counts findings. Found is the sum of Kept, Dropped and Unposted; Edited,
// Moved and Regraded are among the kept, and one finding may be in all three.
type Tally struct {
	Found   int `json:"found"`
	Kept    int `json:"kept"`
	Dropped int `json:"dropped"`
	// left out where nobody judged them one by one: in drafts that were aborted, with others, or without a reason
	Unposted int `json:"unposted"`
	Edited   int `json:"edited"`
	Moved    int `json:"moved"`
	Regraded int `json:"regraded"`

	// Precision is kept among kept and dropped; nil for none of either.
	Precision *Interval `json:"precision"`
}

// maxCategories is how many categories have a row of their own.
const maxCategories = 20

// Sum adds up decided drafts. A record that comes twice counts once; one of a
// revision, or of a draft that was drafted again, is nobody's verdict and counts
// not at all.
func Sum(all iter.Seq[Decided]) Stats {
	var s Stats
	seen := map[string]bool{}
	severities, categories, sources := map[string]*Tally{}, map[string]*Tally{}, map[string]*Tally{}
	for d := range all {
		verdict := d.Record.Decision
		if seen[d.Record.Digest] || d.Record.Withdrawn() || verdict != decision.Approve && verdict != decision.Abort {
			continue
		}
		seen[d.Record.Digest] = true
		s.Drafts++
		if verdict == decision.Approve {
			s.Posted++
		} else {
			s.Aborted++
		}
		for _, f := range d.Findings {
			one, shown := d.outcome(f)
			if !shown {
				continue
			}
			s.All.add(one)
			of(severities, string(f.Severity)).add(one)
			of(categories, f.Category).add(one)
			of(sources, string(f.Source)).add(one)
		}
	}
	s.All.rate()
	s.BySeverity = groups(severities, func(g Group) int { return -finding.Severity(g.Name).Rank() })
	s.BySource = groups(sources, func(Group) int { return 0 })
	s.ByCategory = few(groups(categories, func(g Group) int { return -g.Found }))
	return s
}

// outcome is what became of a finding, counted once; shown is false for one that
// the approver was not asked about.
func (d Decided) outcome(f finding.Finding) (one Tally, shown bool) {
	switch {
	case f.Filtered != "" && f.Filtered != finding.Dropped:
		return one, false
	case d.Record.Decision == decision.Abort:
		return Tally{Found: 1, Unposted: 1}, true
	case f.Filtered == finding.Dropped && !slices.ContainsFunc(d.Record.Dropped, func(x decision.Drop) bool {
		return x.ID == f.ID && x.Judged()
	}):
		return Tally{Found: 1, Unposted: 1}, true
	case f.Filtered == finding.Dropped:
		return Tally{Found: 1, Dropped: 1}, true
	}
	r := d.Record
	return Tally{
		Found: 1, Kept: 1,
		Edited:   once(r.Edited, func(e decision.Edit) bool { return e.ID == f.ID }),
		Moved:    once(r.Moved, func(m decision.Move) bool { return m.ID == f.ID }),
		Regraded: once(r.Severity, func(g decision.Regrade) bool { return g.ID == f.ID }),
	}, true
}

func once[T any](list []T, is func(T) bool) int {
	if slices.ContainsFunc(list, is) {
		return 1
	}
	return 0
}

func (t *Tally) add(o Tally) {
	t.Found, t.Kept, t.Dropped, t.Unposted = t.Found+o.Found, t.Kept+o.Kept, t.Dropped+o.Dropped, t.Unposted+o.Unposted
	t.Edited, t.Moved, t.Regraded = t.Edited+o.Edited, t.Moved+o.Moved, t.Regraded+o.Regraded
}

func (t *Tally) rate() { t.Precision = Wilson(t.Kept, t.Kept+t.Dropped) }

func of(all map[string]*Tally, name string) *Tally {
	if all[name] == nil {
		all[name] = &Tally{}
	}
	return all[name]
}

// groups lists tallies by a rank, and by name where that is equal.
func groups(all map[string]*Tally, rank func(Group) int) []Group {
	list := make([]Group, 0, len(all))
	for name, t := range all {
		t.rate()
		list = append(list, Group{name, *t})
	}
	slices.SortFunc(list, func(a, b Group) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// few puts the smallest groups into one.
func few(list []Group) []Group {
	if len(list) <= maxCategories {
		return list
	}
	rest := Group{Name: "other"}
	for _, g := range list[maxCategories-1:] {
		rest.add(g.Tally)
	}
	rest.rate()
	return append(list[:maxCategories-1:maxCategories-1], rest)
}
