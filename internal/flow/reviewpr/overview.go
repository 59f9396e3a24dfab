package reviewpr

import (
	"context"
	"slices"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/ticket"
)

// overview reviews the change as a whole once its files are reviewed. Whatever it
// could not do goes into its notes, and the run continues.
func (r *run) overview(ctx context.Context, s State) (State, error) {
	r.reviews.end()
	if r.Overview == nil || !s.anyRead() {
		return State{Whole: finding.Overview{Criteria: unknownCriteria(s.Asked.Context)}}, nil
	}
	limited := ctx
	if !r.Deadline.IsZero() {
		var stop context.CancelFunc
		limited, stop = context.WithDeadlineCause(ctx, r.Deadline, graph.ErrDeadline)
		defer stop()
	}
	seen, err := r.Overview(limited, s.overviewInput(r.loadContext(limited, s), r.Paid))
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		seen.Notes, err = append(seen.Notes, "The change was not looked at as a whole: the time was up."), nil
	}
	if err != nil {
		return s, err
	}
	if len(seen.Criteria) == 0 {
		seen.Criteria = unknownCriteria(s.Asked.Context)
	}
	return State{Whole: seen, Usage: seen.Usage}, nil
}

// anyRead reports whether any file was read.
func (s State) anyRead() bool {
	return slices.ContainsFunc(s.FileReviews, func(r finding.FileReview) bool {
		return r.State == finding.Reviewed || r.State == finding.Partly
	})
}

// overviewInput returns the input for the review of the whole change.
func (s State) overviewInput(c ticket.Context, paid Paid) review.Whole {
	w := review.Whole{
		Files: s.Files, Reviews: s.results(), Found: finding.Kept(s.Findings), Reported: s.reportedBefore(), Context: c,
		Show:   s.Asked.Show,
		Digest: s.Asked.Digest, Use: s.Draft.Config.Overview, Report: s.Draft.Config.Report, Known: paid.overview,
	}
	for _, r := range w.Reviews {
		w.Found = append(w.Found, finding.Kept(r.Findings)...)
	}
	order.Stable(w.Found, finding.Compare)
	if s.Pull != nil {
		w.Title, w.Description, w.Branch = s.Pull.Title, s.Pull.Body, s.Pull.HeadRef
	}
	return w
}

// unknownCriteria returns the criteria with verdict unknown.
func unknownCriteria(c ticket.Context) (all []finding.Criterion) {
	for _, k := range c.Criteria() {
		all = append(all, finding.Criterion{N: k.N, Text: k.Text, Verdict: finding.Unknown,
			Evidence: []finding.Lines{}})
	}
	return all
}

// resultsWithOverview returns the file results together with the findings of the overview. For a
// file revised since, the revision replaces both: its approver saw both.
func (s State) resultsWithOverview() []finding.FileReview {
	all, said := s.results(), map[string]int{}
	for _, r := range s.FileReviews {
		if r.State != "" {
			said[r.Path]++
		}
	}
	for _, f := range s.Whole.Findings {
		at := slices.IndexFunc(all, func(r finding.FileReview) bool { return r.Path == f.Path })
		switch {
		case at < 0:
			all = append(all, finding.FileReview{Path: f.Path, Findings: []finding.Finding{f}})
		case said[f.Path] < 2:
			all[at].Findings = append(slices.Clone(all[at].Findings), f)
		}
	}
	return all
}

// postsOverview reports whether the posted review contains the overview's text.
func (s State) postsOverview() bool {
	return s.Whole.Text != "" && s.Draft.Config.Overview == config.OverviewPost
}
