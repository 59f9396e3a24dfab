package job

import (
	"cmp"
	"context"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wire"
)

// gated is a flow whose drafts wait at a gate, as the jobs behind that gate deal with it;
// S is the state of its graph. Whatever was drafted goes one way: it is found and proved
// to be what was shown, the decision is taken, put on record and carried out.
type gated[S any] struct {
	*job
	of      handoff.Subject[S]
	origin  handoff.Origin
	graph   string // by name, in this version
	version int
	prompt  string                                        // its fingerprint; "" where none is told apart
	build   func(graph.Store) (*graph.Flow[S], error)     // the graph that carries a draft out
	unmoved func(context.Context, checkpoint.Draft) error // check 9
	// looks what was done on a thread, whichever draft of it was decided
	standing func(S) func(ctx context.Context, thread string) (where string, found bool, err error)

	author   func(context.Context, checkpoint.Manifest) (login string, err error) // who may not decide; "" for nobody
	deciders func(S) []string                                                     // whom the settings name
	items    func(S) []decision.Item
	// fits is what more the flow asks of a decision that was read; nil for nothing
	fits     func(S, decision.Decision, error) (decision.Decision, error)
	compared func(S) []finding.Finding                // what two approvals are compared by
	parent   func(S) string                           // the span that drafted; "" for none
	onRecord func(S, decision.Record) decision.Record // what a record keeps of its draft; nil for nothing
	report   func(context.Context, *handoff.Draft[S]) (driver.Report, error)

	speaks  bool     // what it posts is in the name of the token's account: a review
	changes []string // since the draft was made, without mattering
}

// decides is a job behind a gate: the deciding one, or that behind one that did not run.
// about reads what the drafts are about.
func decides[S any](ctx context.Context, j *job,
	about func(context.Context) (*gated[S], error)) (driver.Report, error) {
	var approvals []github.Approval
	err := j.checkRoute()
	if j.Mode == "record" {
		if approvals, err = j.answers(ctx); err == nil {
			if _, any := gate.Rejection(approvals, nil, j.Environment); !any {
				return undecided(), nil
			}
		}
	}
	if err != nil {
		return driver.Report{}, err
	}
	g, err := about(ctx)
	switch {
	case err != nil:
		return driver.Report{}, err
	case j.Mode == "record":
		return g.reject(ctx, approvals)
	}
	return g.resume(ctx)
}

func undecided() driver.Report {
	return driver.Report{Outcome: driver.Paused, Message: "nobody has rejected this draft: a push withdrew it, or " +
		"the log of the deciding job says why it is not posted"}
}

// verify finds the draft that the inputs name, and runs the resume checks up to 10.
func (g *gated[S]) verify(ctx context.Context) (draft checkpoint.Draft, err error) {
	shown := cmp.Or(g.Digest, g.Code)
	r := handoff.Resume{
		Origin: g.origin, Graph: g.graph, Version: g.version, Shown: shown,
		Name: g.origin.Names.Draft(g.origin.Subject, shown),
		Settings: checkpoint.Settings{Trust: g.Protection.Trust, Environment: g.Environment,
			ToolVersion: wire.Version(), PromptFingerprint: g.prompt},
		Unmoved: g.unmoved,
	}
	r.Run = cmp.Or(g.RunID, r.Run)
	if !g.routeA() { // a run of another workflow drafted it
		r.Run, r.Workflow = g.RunID, g.DraftWorkflow
	}
	candidates, err := g.candidates(ctx, r)
	if err == nil {
		draft, g.changes, err = r.Verify(ctx, candidates)
	}
	return draft, err
}

// found is the draft that the inputs name, once checks 1 to 10 let it pass, in a graph
// that can decide it.
func (g *gated[S]) found(ctx context.Context) (*handoff.Draft[S], error) {
	draft, err := g.verify(ctx)
	if err != nil {
		return nil, err
	}
	return g.of.Open(ctx, draft, g.build)
}

// resume is the deciding job: it finds the draft, proves that it is the one that was
// shown, takes the decision, puts it on record and carries it out.
func (g *gated[S]) resume(ctx context.Context) (r driver.Report, err error) {
	o, err := g.found(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	ctx, span := trace.Run(trace.Continue(ctx, g.parent(o.State)), "resume", g.began)
	defer func() { g.EndRun(span, g.ref, r, g.began, err) }()
	_, waited := trace.Gate(ctx)
	answer, err := g.decide(ctx, o)
	waited.Decided(string(answer.Decision.Verdict), err)
	if err != nil {
		return driver.Report{}, err
	}
	return g.carryOut(ctx, o, answer)
}

// reject is the job behind a deciding job that did not run: it notes who rejected the
// draft in the environment's dialog, and why. Where nobody did, the draft is as it was: a
// push withdrew it, or the deciding job's log says more.
func (g *gated[S]) reject(ctx context.Context, approvals []github.Approval) (r driver.Report, err error) {
	draft, err := g.verify(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	rejection, ok := gate.Rejection(approvals, draft.Manifest.Approvals, g.Environment)
	if !ok { // it was there before the draft
		return undecided(), nil
	}
	o, err := g.of.Open(ctx, draft, g.build)
	if err != nil {
		return driver.Report{}, err
	}
	ctx, span := trace.Run(trace.Continue(ctx, g.parent(o.State)), "record", g.began)
	defer func() { g.EndRun(span, g.ref, r, g.began, err) }()
	_, waited := trace.Gate(ctx)
	waited.Decided(string(decision.Abort), nil)
	record := g.record(draft)
	record.By, record.Via = rejection.User, decision.ByApproval
	d := decision.Decision{Verdict: decision.Abort, Note: rejection.Comment}
	return g.carryOut(ctx, o, decision.Answer{Decision: d, Record: record.With(d)})
}

// revise finds the draft as a deciding job does, and has again draft it as the feedback
// asks; may refuses a draft that cannot be. What again drafts asks the environment that
// the inputs name: it has decided nothing here.
func (g *gated[S]) revise(ctx context.Context, may func(S) error,
	again func(context.Context, *handoff.Draft[S], decision.Answer) (driver.Report, error)) (r driver.Report,
	err error) {
	environment := g.Environment
	g.Environment = ""
	o, err := g.found(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	ctx, span := trace.Run(trace.Continue(ctx, g.parent(o.State)), "revise", g.began)
	defer func() { g.EndRun(span, g.ref, r, g.began, err) }()
	if err := may(o.State); err != nil {
		return driver.Report{}, err
	}
	_, waited := trace.Gate(ctx)
	answer, err := g.asks(ctx, o)
	waited.Decided(string(decision.Revise), err)
	if err != nil {
		return driver.Report{}, err
	}
	g.Environment = environment
	return again(ctx, o, answer)
}

// carryOut puts an answer on record, acts on it, and reports what came of it.
func (g *gated[S]) carryOut(ctx context.Context, o *handoff.Draft[S], answer decision.Answer) (driver.Report, error) {
	defer driver.Beat(ctx, g.tell, driver.Deciding)()
	if g.onRecord != nil {
		answer.Record = g.onRecord(o.State, answer.Record)
	}
	if err := o.CarryOut(ctx, g.desk(o.State), answer); err != nil {
		return driver.Report{}, err
	}
	r, err := g.report(context.WithoutCancel(ctx), o)
	r.Changes = g.changes
	return r, err
}
