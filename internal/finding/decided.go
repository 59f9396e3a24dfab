package finding

import (
	"cmp"
	"slices"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/order"
)

// Items returns the items that a decision is checked against: the findings, and the earlier
// findings that are posted and still open.
func Items(all []Finding, earlier ...Earlier) []decision.Item {
	items := make([]decision.Item, 0, len(all))
	for _, f := range all {
		items = append(items, decision.Item{ID: f.ID, Severity: f.Severity, Path: f.Path})
	}
	for _, e := range Standing(earlier) {
		if e.ID != "" {
			items = append(items, decision.Item{ID: e.ID, Severity: e.Severity, Path: e.Path, Posted: true})
		}
	}
	return items
}

// MarkDropped returns a copy of the earlier findings after a decision by the person by: posted findings
// that it drops by their ids are marked as dropped.
func MarkDropped(d decision.Decision, earlier []Earlier, by string) []Earlier {
	earlier = slices.Clone(earlier)
	for i, e := range earlier {
		if e.ID != "" && e.Fate == WasPosted && slices.ContainsFunc(d.Drop, func(x decision.Drop) bool {
			return x.ID == e.ID
		}) {
			earlier[i].Fate, earlier[i].By = WasDropped, by
		}
	}
	return earlier
}

// Apply returns the findings as decided, in the order of Compare. Findings that were filtered
// before come after the others, untouched. Dropped ones are marked, not removed. An edit replaces
// only the body. A move takes a finding from its line to the review's body, never the other way,
// because nobody saw it there.
func Apply(d decision.Decision, all []Finding) []Finding {
	decided := slices.Clone(all)
	for i := range decided {
		if f := &decided[i]; f.Filtered == "" && f.ID != "" {
			apply(d, f)
		}
	}
	if len(d.Severity) > 0 {
		order.Stable(decided, func(a, b Finding) int { return cmp.Or(filteredRank(a)-filteredRank(b), Compare(a, b)) })
	}
	return decided
}

func filteredRank(f Finding) int {
	if f.Filtered != "" && f.Filtered != Dropped {
		return 1
	}
	return 0
}

func apply(d decision.Decision, f *Finding) {
	for _, e := range d.Edit {
		if e.ID == f.ID {
			f.Body = e.Body
		}
	}
	for _, s := range d.Severity {
		if s.ID == f.ID {
			regrade(f, s.Severity)
		}
	}
	for _, m := range d.Move {
		if m.ID == f.ID && f.Placement != Body {
			f.Placement, f.Note = Body, "moved by the approver"
		}
	}
	for _, x := range d.Drop {
		if x.ID == f.ID {
			f.Filtered, f.Note = Dropped, "dropped by the approver"
		}
	}
}

// regrade changes a finding's severity. A new nit moves to the review's body, where nits belong.
func regrade(f *Finding, s Severity) {
	switch {
	case s == Nit && f.Placement == Inline:
		f.Placement, f.Note = Body, "graded nit by the approver"
	case f.Severity == Nit && s != Nit && f.Placement == Body:
		f.Note = "graded up from nit by the approver"
	}
	f.Severity = s
}
