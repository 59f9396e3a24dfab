package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/triage"
	"github.com/org/pr-review-action/internal/wire"
)

// revise has a draft of the local store revised in place: as the answer asks, or
// where it is nil, as a run before this one was asked and did not finish. What it
// gives is another draft that waits.
func (a *app) revise(ctx context.Context, s session, r report, answer *gate.Answer, o *options) (report, error) {
	if answer != nil {
		if err := gate.CheckRounds(len(r.state.Rounds)); err != nil {
			return report{}, err
		}
	}
	run, err := a.reviser(ctx, s, r, o)
	if err != nil {
		return report{}, err
	}
	flow, err := reviewpr.New(reviewpr.Steps{
		Redraft: run.reviewer.Redraft, Failed: run.reviewer.Failed, Revised: run.redrafted(ctx, r), Concurrency: o.Concurrency, Deadline: a.deadline(o.Settings),
	}, s.store, graph.Observe(run.progress.observe), graph.WithClock(a.clock))
	if err != nil {
		return report{}, err
	}
	run.progress.start()
	if answer == nil {
		_, err = flow.Continue(ctx, s.thread)
	} else {
		_, err = flow.Resume(ctx, s.thread, graph.Answer{Gate: r.packed.Manifest.GateID, Value: *answer})
	}
	run.progress.Stop()
	if err != nil {
		return report{}, err
	}
	after, err := reportOf(ctx, flow, s.store, s.thread, checkpoint.Protection{})
	after.explain(run.reviewer, a.warn)
	return after, err
}

// reviser prepares the model of a revision on this machine. It reads the change of
// the draft again, which must be as it was drafted. Nothing is asked yet.
func (a *app) reviser(ctx context.Context, s session, r report, o *options) (*localRun, error) {
	run := &localRun{session: s, app: a, options: o, progress: a.newProgress(o)}
	var err error
	if run.reviewer, err = a.NewReviewer(o.Settings, run.progress.wait); err != nil {
		return nil, err
	}
	run.progress.soFar = run.reviewer.SoFar
	if err := mayRevise(run.reviewer, r.state.Draft); err != nil {
		return nil, err
	}
	if run.change, err = a.changeOf(ctx, s, r.state, o); err != nil {
		return nil, err
	}
	run.reviewer.Named(run.change.Config)
	paid, err := run.paid(ctx)
	if err != nil {
		return nil, err
	}
	if err := run.reviewer.Prepare(ctx, wire.Brief{Change: run.change, Paid: paid, API: s.api, Workspace: ".", Revises: &r.state.Usage}); err != nil {
		return nil, err
	}
	if notice := run.reviewer.Account.Notice; notice != "" && !o.quiet {
		fmt.Fprintln(a.Stderr, guard.Line(notice, maxLine))
	}
	return run, nil
}

// mayRevise refuses to have rules revise, or a draft that they made.
func mayRevise(r *wire.Reviewer, d reviewpr.Draft) error {
	const next = "change single findings with commands such as /drop F2, or draft anew with a model"
	switch {
	case d.Rules:
		return problem.Usage("this draft was made by rules, and rules cannot be revised", next)
	case r.Rules:
		return problem.Usage("rules cannot be revised, and "+wire.NoModel, "for a model: OPENAI_API_KEY=… or --base-url; without one "+next)
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
		c, err = ingest.Pull(ctx, s.api, state.Pull.Ref, ingest.PullOptions{Instance: d.Instance, Config: o.Config, MaxChanges: triage.MaxChanges})
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
		return c, problem.Refuse(9, "the range is another since this draft was made", "revise in the clone and at the commits of the draft, or review the range anew", problem.At(d.Name))
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
	d.CreatedAt, d.ExpiresAt, d.ToolVersion, d.Prompt, d.Trace = facts.CreatedAt, facts.ExpiresAt, facts.ToolVersion, facts.Prompt, facts.Trace
	if d.MaxCost = 0; r.Account.Cap > 0 {
		d.MaxCost = before.Cost + r.Account.Cap
	}
	return d
}

// revising reports whether a revision was asked for that has not come to its draft.
func (r report) revising() bool {
	d := r.state.Decision
	asked := d != nil && d.Decision == decision.Revise || d == nil && len(r.state.Rounds) > 0
	return asked && r.Outcome == reviewpr.Failed && r.state.Reason == ""
}

// asked is the feedback of the last revision.
func (r report) asked() string {
	if d := r.state.Decision; d != nil {
		return d.Feedback
	}
	return r.state.Rounds[len(r.state.Rounds)-1].Feedback
}

// finishRevision goes on with a revision that a run before this one was asked for.
// A decision that is given now was made about a draft that is not there yet.
func (a *app) finishRevision(ctx context.Context, s session, r report, given decision.Verdict, o *options) error {
	d, _ := decision.Parse(o.text()) // it parsed before
	if (given != "" || len(o.commands) > 0) && (given != decision.Revise || d.Feedback != r.asked()) {
		return problem.Usage("this draft is being revised, so there is nothing to decide yet",
			fmt.Sprintf("finish that first: %s, with the model's flags", a.resuming(r.Thread, o)))
	}
	after, err := a.revise(ctx, s, r, nil, o)
	if err != nil {
		return err
	}
	return a.revised(ctx, s, after, o)
}

// revised shows a revised draft, and asks about it or parks it: what was given on the
// command line was about the draft before it.
func (a *app) revised(ctx context.Context, s session, r report, o *options) error {
	o.approve, o.abort, o.revise, o.commands = false, false, "", nil
	return a.decide(ctx, s, r, "", o)
}

// revise is the drafting job once more: it finds the draft as a deciding job does,
// has the model revise it as the feedback asks, and stores the new draft in its
// place. It cannot post.
func (j *job) revise(ctx context.Context) (_ report, err error) {
	if err := j.checkFeedback(); err != nil {
		return report{}, err
	}
	reviewer, err := j.NewReviewer(j.Settings, nil)
	if err != nil {
		return report{}, err
	}
	approvals, err := j.gateRules(ctx)
	if err != nil {
		return report{}, err
	}
	environment := j.Environment
	j.Environment = "" // it is asked about the new draft, and has decided nothing here
	p, err := j.found(ctx)
	if err != nil {
		return report{}, err
	}
	ctx, span := trace.Run(trace.Continue(ctx, p.state.Draft.Trace), "revise", j.began)
	defer func() { span.End(err) }()
	if err := cmp.Or(mayRevise(reviewer, p.state.Draft), gate.CheckRounds(len(p.state.Rounds))); err != nil {
		return report{}, err
	}
	answer, err := j.asks(ctx, p)
	if err != nil {
		return report{}, err
	}
	change, before, err := j.unchanged(ctx, p)
	if err != nil {
		return report{}, err
	}
	j.Environment = environment
	if err := j.chooseEnvironment(ctx, change); err != nil {
		return report{}, err
	}
	return j.redraft(ctx, p, change, before, reviewer, approvals, answer)
}

func (j *job) checkFeedback() error {
	// It is kept with the draft, so it holds no credential.
	j.Feedback = strings.TrimSpace(strings.TrimPrefix(decision.ReviseCommand(secret.Redact(j.Feedback)), "/revise"))
	switch {
	case j.Digest == "" && j.Code == "":
		return problem.Usage("the input code is missing", "pass the code of the draft that is to be revised, from its summary")
	case j.Digest != "" && j.Code != "" && !strings.HasPrefix(j.Digest, j.Code):
		return problem.Usage("code and checkpoint-digest name different drafts", "pass one of them")
	case j.Feedback == "":
		return problem.Usage("the input feedback is missing", "say what the next draft should do differently")
	case len(j.Feedback) > decision.MaxFeedback:
		return problem.Usage(fmt.Sprintf("the feedback has %d bytes, more than %d", len(j.Feedback), decision.MaxFeedback), "say it shorter")
	case j.Decision != "" || strings.TrimSpace(j.Commands) != "":
		return problem.Usage("decision and commands have no place in mode revise", "decide about the new draft, by its own code")
	case j.Anew:
		return problem.Usage("again: true drafts without the draft that is to be revised", "leave one of again and feedback out")
	case j.event.Name != "workflow_dispatch":
		return problem.Usage("feedback comes by workflow_dispatch alone", "dispatch the review workflow with pull-request, code and feedback")
	}
	return nil
}

// asks is the answer of who asks for the revision: checks 12 and 13, as for a
// decision by dispatch.
func (j *job) asks(ctx context.Context, p opened) (gate.Answer, error) {
	if err := j.dispatched(ctx, p.verified, p.state.Draft.Config.Deciders); err != nil {
		return gate.Answer{}, err
	}
	d := decision.Decision{Verdict: decision.Revise, Feedback: j.Feedback}
	record := decision.Record{Thread: p.Manifest.Thread, Digest: p.Digest, Code: p.Code, At: j.clock(), By: j.by(), Via: decision.ByDispatch}.With(d)
	approvals, err := j.approvals(ctx, p.Manifest.RunID)
	if err == nil {
		err = gate.Rejected(approvals, p.Manifest.Approvals, p.Manifest.Environment)
	}
	if err != nil {
		return gate.Answer{}, err
	}
	on, err := j.desk(p.now.Pull).Claims(ctx, p.Code)
	if err == nil {
		err = handoff.Governed(on, record)
	}
	return gate.Answer{Decision: d, Record: record}, err
}

// unchanged reads the change again, with what the model may look at, and what was
// paid for. It refuses a commit that was decided, and a change that has moved.
func (j *job) unchanged(ctx context.Context, p opened) (ingest.Change, before, error) {
	change, err := ingest.Pull(ctx, j.api, j.ref, ingest.PullOptions{Instance: j.Instance, Config: j.Config, MaxChanges: triage.MaxChanges})
	if err == nil {
		err = post.CheckHead(p.Manifest.Subject, p.Code, pullNow(change))
	}
	if err != nil {
		return ingest.Change{}, before{}, err
	}
	b, err := j.before(ctx, change)
	if err == nil && b.done.Outcome != "" {
		err = problem.Refuse(13, "this commit was decided before, so nothing is left to revise", "push a commit for a new review", problem.At(cmp.Or(b.done.ReviewURL, p.Manifest.Thread)))
	}
	b.drafts = []checkpoint.Opened{p.Opened}
	return change, b, err
}

// redraft runs the graph from the answer to the next gate, and stores what it
// parked there. Progress is carried off as a first draft's is.
func (j *job) redraft(ctx context.Context, p opened, change ingest.Change, before before, r *wire.Reviewer, approvals []string, answer gate.Answer) (report, error) {
	r.Named(change.Config)
	if err := r.Prepare(ctx, wire.Brief{Change: change, Paid: before.paid, API: j.api, Workspace: j.getenv("GITHUB_WORKSPACE"), Revises: &p.state.Usage}); err != nil {
		return report{}, err
	}
	r.Linger, r.Mute = lastAnswers, j.Summary == "counts"
	store := j.carried(change)
	if err := store.Prime(ctx, change.Thread, graph.Saved{Snapshot: p.Snapshot}, 0, ""); err != nil {
		return report{}, err
	}
	flow, err := reviewpr.New(reviewpr.Steps{
		Redraft: r.Redraft, Failed: r.Failed, Concurrency: j.Concurrency, Deadline: j.deadline(j.Settings),
		Revised: func(d reviewpr.Draft) reviewpr.Draft {
			d = redrafts(r, d, j.facts(ctx, j.Settings, r), p.state.Usage)
			d.RunID, d.RunAttempt, d.WorkflowRef, d.Approvals = j.env.RunID, j.env.RunAttempt, j.env.WorkflowRef, approvals
			d.Environment, d.Dispatch = j.Environment, j.AllowDispatch
			return d
		},
	}, store, append(sealing(j.Protection), graph.WithClock(j.clock))...)
	if err != nil {
		return report{}, err
	}
	if _, err := flow.Resume(ctx, change.Thread, graph.Answer{Gate: p.Manifest.GateID, Value: answer}); err != nil {
		return report{}, j.cutOff(ctx, store, err)
	}
	after, err := reportOf(ctx, flow, store, change.Thread, j.Protection)
	if err == nil && after.Artifact == "" {
		err = errors.New("the revision came to no draft")
	}
	if err == nil {
		after.explain(r, j.runner.Warning)
		err = j.carriers().Own().Put(ctx, after.Artifact, after.packed.Zip)
	}
	if err != nil {
		return report{}, j.cutOff(ctx, store, fmt.Errorf("storing the draft: %w", err))
	}
	after.before, after.changes = p.state.Usage.Cost, p.changes
	j.stored(ctx, &after, store, before)
	return after, nil
}
