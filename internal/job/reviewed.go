package job

import (
	"context"
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/prompt"
)

// reviewed is the review of a pull request, as it is now.
func (j *job) reviewed(ctx context.Context) (*gated[reviewpr.State], error) {
	if j.Mode == "resume" {
		if err := j.probe(ctx); err != nil {
			return nil, err
		}
	}
	now, err := ingest.Current(ctx, j.api, j.ref)
	if err != nil {
		return nil, err
	}
	steps := reviewpr.Steps{Post: func(ctx context.Context, s reviewpr.State) (post.Posted, error) {
		return driver.Post(ctx, j.ours, s, j.desk(now.Pull).Race(*s.Decision), false, j.runner.Warning)
	}}
	return &gated[reviewpr.State]{
		job: j, of: reviewpr.Subject(driver.CheckShown), origin: j.origin(now),
		graph: reviewpr.Name, version: reviewpr.Version, prompt: prompt.Fingerprint(),
		build: func(store graph.Store) (*graph.Flow[reviewpr.State], error) {
			return reviewpr.New(steps, store, driver.Sealing(j.Protection)...)
		},
		unmoved: func(_ context.Context, o checkpoint.Draft) error {
			return post.CheckHead(o.Manifest.Subject, o.Code, driver.PullNow(now))
		},
		standing: func(reviewpr.State) func(context.Context, string) (string, bool, error) { return j.posted },
		author:   func(context.Context, checkpoint.Manifest) (string, error) { return now.Pull.Author, nil },
		deciders: func(s reviewpr.State) []string { return s.Draft.Config.Deciders },
		items:    reviewpr.State.Items, compared: everything, onRecord: reviewpr.State.OnRecord, speaks: true,
		parent: func(s reviewpr.State) string { return s.Draft.Trace },
		report: func(ctx context.Context, o *handoff.Draft[reviewpr.State]) (driver.Report, error) {
			return driver.ReportOf(ctx, o.Flow, o.Store, o.Manifest.Thread, j.Protection)
		},
	}, nil
}

// everything is what two decisions on a draft are compared by.
func everything(s reviewpr.State) []finding.Finding {
	all := slices.Clone(s.Comments)
	for _, e := range finding.Standing(s.Earlier) {
		all = append(all, e.Finding())
	}
	return all
}
