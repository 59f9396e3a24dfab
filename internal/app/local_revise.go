package app

import (
	"cmp"
	"context"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/wire"
)

// revise has a draft of the local store revised in place: as the answer asks, or
// where it is nil, as a run before this one was asked and did not finish. What it
// gives is another draft that waits.
func (a *app) revise(ctx context.Context, s session, r driver.Report, answer *decision.Answer,
	o *options) (driver.Report, error) {
	if answer != nil {
		if err := gate.CheckRounds(len(r.State.Rounds)); err != nil {
			return driver.Report{}, err
		}
	}
	run, paid, err := a.reviser(ctx, s, r, o)
	if err != nil {
		return driver.Report{}, err
	}
	var asked *graph.Answer
	if answer != nil {
		asked = driver.AnswerTo(r.Packed.Manifest, *answer)
	}
	b := wire.Brief{Change: run.change, Paid: paid, API: s.api, Workspace: ".", Revises: &r.State.Usage}
	run.progress.start()
	defer run.progress.Stop()
	return run.driver().Revise(ctx, b, reviewpr.Steps{Revised: run.redrafted(ctx, r), Concurrency: o.Concurrency,
		Deadline: a.Deadline(o.Settings)}, asked)
}

// reviser chooses the model of a revision on this machine, and reads the change of
// the draft again, which must be as it was drafted. Nothing is asked yet.
func (a *app) reviser(ctx context.Context, s session, r driver.Report,
	o *options) (run *localRun, paid reviewpr.Paid, err error) {
	run = &localRun{session: s, app: a, options: o, progress: a.newProgress(o.quiet || o.json)}
	if run.reviewer, err = a.NewReviewer(o.Settings, run.progress.wait); err != nil {
		return nil, paid, err
	}
	run.progress.soFar = run.reviewer.SoFar
	if err := driver.MayRevise(run.reviewer, r.State.Draft); err != nil {
		return nil, paid, err
	}
	if run.change, err = a.changeOf(ctx, s, r.State, o); err != nil {
		return nil, paid, err
	}
	run.reviewer.Named(run.change.Config)
	paid, err = run.paid(ctx)
	return run, paid, err
}

// changeOf reads the change of a draft again. What is not the change that was
// drafted is refused as resume check 9 does; a diff's file is in the draft.
func (a *app) changeOf(ctx context.Context, s session, state reviewpr.State, o *options) (c ingest.Change, err error) {
	d := state.Draft
	switch {
	case state.Pull != nil:
		if err := o.InRepository(); err != nil {
			return c, err
		}
		c, err = ingest.Pull(ctx, s.api, state.Pull.Ref,
			ingest.PullOptions{Instance: d.Instance, Config: o.File()})
		if err != nil {
			return c, err
		}
		drafted := checkpoint.Subject{Number: state.Pull.Number, Head: d.Head, Digest: d.DiffDigest}
		return c, post.CheckHead(drafted, d.Thread, driver.PullNow(c))
	case d.Head == "":
		return withConfig(ingest.Change{Name: d.Name, Thread: d.Thread, Files: state.Files, Config: d.Config}, nil, o)
	}
	if c, err = readRange(ctx, d.Name, o); err != nil {
		return c, err
	}
	if c.Thread != d.Thread || c.Digest() != d.DiffDigest {
		return c, problem.Refuse(9, "the range is another since this draft was made",
			"revise in the clone and at the commits of the draft, or review the range anew", problem.At(d.Name))
	}
	return c, nil
}

// redrafted gives a draft the facts of the run that revised it. Whose review it is
// and from which severity it calls a person stay as they were.
func (r *localRun) redrafted(ctx context.Context, before driver.Report) func(reviewpr.Draft) reviewpr.Draft {
	s := r.options.Settings
	s.Expires = cmp.Or(s.Expires, before.State.Draft.ExpiresAt.Sub(before.State.Draft.CreatedAt))
	return func(d reviewpr.Draft) reviewpr.Draft {
		return driver.Redrafted(r.reviewer, d, r.app.Facts(ctx, s, r.reviewer), before.State.Usage)
	}
}
