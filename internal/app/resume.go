package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
)

// again reports a decision that was taken before, and posts what it had
// approved where that did not happen. Another decision is refused.
func (a *app) again(ctx context.Context, s session, r driver.Report, given decision.Verdict, o *options) error {
	taken := r.State.Decision
	if verdict := cmp.Or(given, decision.Approve); (given != "" || o.text() != "") &&
		differs(*taken, verdict, o.text(), r.State) {
		how := ""
		if verdict == taken.Decision {
			how = ", with other changes"
		}
		return problem.Refuse(13, "this draft was decided otherwise before",
			"a draft is decided once; push a new commit, or review this one anew with --again",
			problem.At(fmt.Sprintf("%s: %s by %s on %s%s", r.Thread, taken.Decision, taken.By,
				taken.At.Format("2 January 2006, 15:04 MST"), how)))
	}
	after, err := driver.Driver{Front: a.Front, Store: s.store, Thread: s.thread}.Decide(ctx, a.posting(s, o), nil)
	if err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintln(a.Stderr, guard.Text(handoff.DecidedFirst(*taken)))
	}
	return a.decided(after, o)
}

// differs reports whether a decision is another than the one that was taken.
func differs(taken decision.Record, given decision.Verdict, text string, s reviewpr.State) bool {
	comments := slices.DeleteFunc(slices.Clone(s.Comments), func(f finding.Finding) bool {
		return f.Filtered != "" && f.Filtered != finding.Dropped
	})
	before := slices.Clone(s.Earlier) // what the decision itself dropped stood then
	for i, e := range before {
		if e.ID != "" && slices.ContainsFunc(taken.Dropped, func(x decision.Drop) bool { return x.ID == e.ID }) {
			before[i].Fate = finding.WasPosted
		}
	}
	d, err := decision.Parse(text)
	if err == nil {
		d, err = d.Check(finding.Items(comments, before...))
	}
	if err != nil || given != taken.Decision {
		return true
	}
	d.Verdict = given
	return !taken.Same(taken.With(d))
}
