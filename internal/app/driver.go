package app

import (
	"context"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/wire"
)

// driver takes a thread through the graph for both fronts, the command line and the
// job: it drafts, revises and decides, and reports what the thread has come to.
type driver struct {
	*app
	store    graph.Store
	thread   string
	protect  checkpoint.Protection // of snapshots and draft; none on the command line
	reviewer *wire.Reviewer        // nil where a draft is decided
	observe  func(graph.Event)     // nil for nobody
	tell     func(string)          // what is about to be asked; nil for nobody
	warn     func(string)
}

// draft reviews a change up to its gate. read reads the change inside the graph, so
// that its failure is the ingest node's; where it is nil, b has the change already.
// steps has what is the front's own, and facts what the draft says of its run, once
// the reviewer knows its cap.
func (d driver) draft(ctx context.Context, b wire.Brief, read func(context.Context) (ingest.Change, error),
	steps reviewpr.Steps, facts func(ingest.Change) (reviewpr.Draft, error)) (report, error) {
	ready := func(ctx context.Context, c ingest.Change) (reviewpr.Draft, error) {
		b.Change = c
		if err := d.prepare(ctx, b); err != nil {
			return reviewpr.Draft{}, err
		}
		return facts(c)
	}
	var begin reviewpr.State
	if read == nil {
		var err error
		if begin.Draft, err = ready(ctx, b.Change); err != nil {
			return report{}, err
		}
		steps.Ingest = func(context.Context) (ingest.Change, error) { return b.Change, nil }
	} else {
		begin.Draft.Thread = d.thread
		steps.Ingest, steps.Ready = read, ready
	}
	steps.Reviewer, steps.Failed, steps.Paid = d.reviewer, d.reviewer.Failed, b.Paid
	flow, err := d.flow(steps)
	if err != nil {
		return report{}, err
	}
	if _, err := flow.Run(ctx, d.thread, begin); err != nil {
		return report{}, err
	}
	return d.drafted(ctx, flow)
}

// prepare settles whom the reviewer asks, and says what that may cost.
func (d driver) prepare(ctx context.Context, b wire.Brief) error {
	if err := d.reviewer.Prepare(ctx, b); err != nil || d.tell == nil {
		return err
	}
	for _, line := range d.reviewer.Expects(b.Change, b.Paid) {
		d.tell(line)
	}
	return nil
}

// revise has the draft that waits revised as an answer asks, or where that is nil,
// goes on with a revision that did not finish. steps has what bounds it, and facts
// gives the new draft those of its run.
func (d driver) revise(ctx context.Context, b wire.Brief, steps reviewpr.Steps, answer *graph.Answer) (report, error) {
	if err := d.reviewer.Prepare(ctx, b); err != nil {
		return report{}, err
	}
	if notice := d.reviewer.Account.Notice; notice != "" && d.tell != nil {
		d.tell(notice)
	}
	steps.Redraft, steps.Failed = d.reviewer.Redraft, d.reviewer.Failed
	flow, err := d.flow(steps)
	if err != nil {
		return report{}, err
	}
	if err := d.goOn(ctx, flow, answer); err != nil {
		return report{}, err
	}
	return d.drafted(ctx, flow)
}

// decide carries an answer out, or where that is nil, what was decided before. What
// came of it is told also to who stops the run.
func (d driver) decide(ctx context.Context, steps reviewpr.Steps, answer *graph.Answer) (report, error) {
	flow, err := d.flow(steps)
	if err != nil {
		return report{}, err
	}
	if err := d.goOn(ctx, flow, answer); err != nil {
		return report{}, err
	}
	return reportOf(context.WithoutCancel(ctx), flow, d.store, d.thread, d.protect)
}

func (d driver) flow(steps reviewpr.Steps) (*graph.Flow[reviewpr.State], error) {
	o := append(sealing(d.protect), graph.WithClock(d.clock))
	if d.observe != nil {
		o = append(o, graph.Observe(d.observe))
	}
	return reviewpr.New(steps, d.store, o...)
}

func (d driver) goOn(ctx context.Context, flow *graph.Flow[reviewpr.State], answer *graph.Answer) error {
	if answer == nil {
		_, err := flow.Continue(ctx, d.thread)
		return err
	}
	_, err := flow.Resume(ctx, d.thread, *answer)
	return err
}

// drafted reports the draft, with what lay behind files that failed.
func (d driver) drafted(ctx context.Context, flow *graph.Flow[reviewpr.State]) (report, error) {
	r, err := reportOf(ctx, flow, d.store, d.thread, d.protect)
	if err == nil {
		r.explain(d.reviewer, d.warn)
	}
	return r, err
}

// answerTo is an answer to the gate that a draft waits at.
func answerTo(m checkpoint.Manifest, answer decision.Answer) *graph.Answer {
	return &graph.Answer{Gate: m.GateID, Value: answer}
}

// sealing is how snapshots are sealed: under the key where drafts are.
func sealing(p checkpoint.Protection) []graph.RunOption {
	if !p.Keyed() {
		return nil
	}
	return []graph.RunOption{graph.WithKey(p.Key.Derive("graph snapshot"))}
}
