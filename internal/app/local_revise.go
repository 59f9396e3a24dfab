package app

import (
	"cmp"
	"context"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/triage"
	"github.com/org/pr-review-action/internal/wire"
)

// revise has a draft of the local store revised in place: as the answer asks, or
// where it is nil, as a run before this one was asked and did not finish. What it
// gives is another draft that waits.
func (a *app) revise(ctx context.Context, s session, r report, answer *decision.Answer, o *options) (report, error) {
	if answer != nil {
		if err := gate.CheckRounds(len(r.state.Rounds)); err != nil {
			return report{}, err
		}
	}
	run, paid, err := a.reviser(ctx, s, r, o)
	if err != nil {
		return report{}, err
	}
	var asked *graph.Answer
	if answer != nil {
		asked = answerTo(r.packed.Manifest, *answer)
	}
	b := wire.Brief{Change: run.change, Paid: paid, API: s.api, Workspace: ".", Revises: &r.state.Usage}
	run.progress.start()
	defer run.progress.Stop()
	return run.driver().revise(ctx, b, reviewpr.Steps{Revised: run.redrafted(ctx, r), Concurrency: o.Concurrency,
		Deadline: a.deadline(o.Settings)}, asked)
}

// reviser chooses the model of a revision on this machine, and reads the change of
// the draft again, which must be as it was drafted. Nothing is asked yet.
func (a *app) reviser(ctx context.Context, s session, r report,
	o *options) (run *localRun, paid reviewpr.Paid, err error) {
	run = &localRun{session: s, app: a, options: o, progress: a.newProgress(o.quiet || o.json)}
	if run.reviewer, err = a.NewReviewer(o.Settings, run.progress.wait); err != nil {
		return nil, paid, err
	}
	run.progress.soFar = run.reviewer.SoFar
	if err := mayRevise(run.reviewer, r.state.Draft); err != nil {
		return nil, paid, err
	}
	if run.change, err = a.changeOf(ctx, s, r.state, o); err != nil {
		return nil, paid, err
	}
	run.reviewer.Named(run.change.Config)
	paid, err = run.paid(ctx)
	return run, paid, err
}

// mayRevise refuses to have rules revise, or a draft that they made.
func mayRevise(r *wire.Reviewer, d reviewpr.Draft) error {
	const next = "change single findings with commands such as /drop F2, or draft anew with a model"
	switch {
	case d.Rules:
		return problem.Usage("this draft was made by rules, and rules cannot be revised", next)
	case r.Rules:
		return problem.Usage("rules cannot be revised, and "+wire.NoModel,
			"for a model: OPENAI_API_KEY=… or --base-url; without one "+next)
	}
	return nil
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
			ingest.PullOptions{Instance: d.Instance, Config: o.Config, MaxChanges: triage.MaxChanges})
		if err != nil {
			return c, err
		}
		drafted := checkpoint.Subject{Number: state.Pull.Number, Head: d.Head, Digest: d.DiffDigest}
		return c, post.CheckHead(drafted, d.Thread, pullNow(c))
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
func (r *localRun) redrafted(ctx context.Context, before report) func(reviewpr.Draft) reviewpr.Draft {
	s := r.options.Settings
	s.Expires = cmp.Or(s.Expires, before.state.Draft.ExpiresAt.Sub(before.state.Draft.CreatedAt))
	return func(d reviewpr.Draft) reviewpr.Draft {
		return redrafts(r.reviewer, d, r.app.facts(ctx, s, r.reviewer), before.state.Usage)
	}
}

// redrafts takes over the facts of a run that revised a draft. The draft may have
// cost as much as before, and what the run may cost.
func redrafts(r *wire.Reviewer, d, facts reviewpr.Draft, before cost.Usage) reviewpr.Draft {
	d.CreatedAt, d.ExpiresAt, d.ToolVersion, d.Prompt, d.Trace = facts.CreatedAt, facts.ExpiresAt, facts.ToolVersion,
		facts.Prompt, facts.Trace
	if d.MaxCost = 0; r.Account.Cap > 0 {
		d.MaxCost = before.Cost + r.Account.Cap
	}
	return d
}
