// Package driver takes a thread through the graph for both fronts, the command line
// and a step of a workflow, and says what it came to: the report, its errors in words,
// the exit code, the SARIF file.
//
// It asks nobody anything and prints nothing. Start reading at Driver.
package driver

import (
	"context"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/linter"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wire"
)

// LastAnswers is how long answers on their way are waited for when a run is cancelled:
// a cancelled job has 7.5 s before GitHub asks again, and 2.5 s more before it kills.
const LastAnswers = 3 * time.Second

// Driver drafts, revises and decides a thread, and reports what it has come to.
type Driver struct {
	*Front
	Store    graph.Store
	Thread   string
	Protect  checkpoint.Protection // of snapshots and draft; none on the command line
	Reviewer *wire.Reviewer        // nil where a draft is decided
	Observe  func(graph.Event)     // of a proposal; nil for nobody
	Tell     func(string)          // what is about to be asked; nil for nobody
	Pulse    func(string)          // each half minute how far a draft is; nil for nobody
	Live     func(Line)            // at each change how far a draft is; nil for nobody
	Linters  linter.Source         // whose results are part of the draft
	Warn     func(string)

	stage func([]reviewpr.Status) // what of the context is fetched
}

// Line is how far a draft is now, and what it waits for, in so many columns.
type Line func(waiting string, columns int) string

// Draft reviews a change up to its gate. read reads the change inside the graph, so
// that its failure is the ingest node's; where it is nil, b has the change already.
// steps has what is the front's own, and facts what the draft says of its run, once
// the reviewer knows its cap. What linters say of the change is read before.
func (d Driver) Draft(ctx context.Context, b wire.Brief, read func(context.Context) (ingest.Change, error),
	steps reviewpr.Steps, facts func(ingest.Change) (reviewpr.Draft, error)) (Report, error) {
	d, stop := d.beating(ctx)
	defer stop()
	gather := func(context.Context) ticket.Context { return ticket.Context{} }
	ready := func(ctx context.Context, c ingest.Change) (_ reviewpr.Draft, err error) {
		b.Change = c
		if err = d.prepare(ctx, &b); err == nil {
			gather, err = d.gathering(b)
		}
		if err != nil {
			return reviewpr.Draft{}, err
		}
		draft, err := facts(c)
		draft.Linters = b.Linted
		return draft, err
	}
	steps.Context = func(ctx context.Context, _ reviewpr.State) ticket.Context { return gather(ctx) }
	var begin reviewpr.State
	if read == nil {
		var err error
		if begin.Draft, err = ready(ctx, b.Change); err != nil {
			return Report{}, err
		}
		steps.Ingest = func(context.Context) (ingest.Change, error) { return b.Change, nil }
	} else {
		begin.Draft.Thread = d.Thread
		steps.Ingest, steps.Ready = read, ready
	}
	began := d.Now()
	steps.Elapsed = func() time.Duration { return d.Now().Sub(began) }
	steps.Reviewer, steps.Failed, steps.Paid = d.Reviewer, d.Reviewer.Failed, b.Paid
	if !d.Reviewer.Rules {
		steps.Overview, steps.Learn = d.Reviewer.Overview, d.Reviewer.Learn
	}
	flow, err := d.flow(steps)
	if err != nil {
		return Report{}, err
	}
	before := d.usage(ctx, flow)
	if _, err := flow.Run(ctx, d.Thread, begin); err != nil {
		return Report{}, err
	}
	return d.drafted(ctx, flow, before)
}

// prepare reads what linters say of the change, of which what is missing is a warning;
// settles whom the reviewer asks, and says what that may cost.
func (d Driver) prepare(ctx context.Context, b *wire.Brief) (err error) {
	from := d.Linters
	from.Tell = d.Tell
	if p := b.Change.Pull; p != nil {
		from.API, from.Owner, from.Repo, from.SHA = b.API, p.Owner, p.Repo, p.HeadSHA
	}
	b.Linted, err = from.Read(ctx, reviewpr.Linted(b.Change))
	for _, line := range b.Linted.Missing {
		d.Warn(line)
	}
	if err == nil {
		err = d.Reviewer.Prepare(ctx, *b)
	}
	if err != nil || d.Tell == nil {
		return err
	}
	for _, line := range d.Reviewer.Forecast(b.Change, b.Paid) {
		d.Tell(line)
	}
	return nil
}

// gathering returns what fetches what a change was made for: nothing where nobody says
// where that stands.
func (d Driver) gathering(b wire.Brief) (func(context.Context) ticket.Context, error) {
	fetch, err := d.Reviewer.Gathering(b, func(ctx context.Context, under []string) {
		_ = graph.Doing(ctx, under...) // a store that refuses it fails the node
		var all []reviewpr.Status
		for _, status := range under {
			all = append(all, reviewpr.Status(status))
		}
		d.stage(all)
	})
	if fetch == nil {
		fetch = func(context.Context) ticket.Context { return ticket.Context{} }
	}
	return fetch, err
}

// Revise has the draft that waits revised as an answer asks, or where that is nil,
// goes on with a revision that did not finish. steps has what bounds it, and facts
// gives the new draft those of its run.
func (d Driver) Revise(ctx context.Context, b wire.Brief, steps reviewpr.Steps, answer *graph.Answer) (Report, error) {
	d, stop := d.beating(ctx)
	defer stop()
	if err := d.Reviewer.Prepare(ctx, b); err != nil {
		return Report{}, err
	}
	if notice := d.Reviewer.Account.Notice; notice != "" && d.Tell != nil {
		d.Tell(notice)
	}
	gather, err := d.gathering(b)
	if err != nil {
		return Report{}, err
	}
	began := d.Now()
	steps.Elapsed = func() time.Duration { return d.Now().Sub(began) }
	steps.Redraft, steps.Failed, steps.Learn = d.Reviewer.Redraft, d.Reviewer.Failed, d.Reviewer.Learn
	steps.Context = func(ctx context.Context, _ reviewpr.State) ticket.Context { return gather(ctx) }
	flow, err := d.flow(steps)
	if err != nil {
		return Report{}, err
	}
	before := d.usage(ctx, flow)
	if err := d.goOn(ctx, flow, answer); err != nil {
		return Report{}, err
	}
	return d.drafted(ctx, flow, before)
}

// beating returns a driver that tells how far it is: Live at once, and Pulse each half
// minute.
func (d Driver) beating(ctx context.Context) (Driver, func()) {
	began := d.Now()
	f := &far{soFar: d.Reviewer.SoFar, under: []reviewpr.Status{reviewpr.Initialize}, live: func(f *far) {
		if d.Live != nil {
			d.Live(func(waiting string, columns int) string { return f.line(d.Now().Sub(began), waiting, columns) })
		}
	}}
	d.Observe, d.stage = f.observe, f.at
	return d, Beat(ctx, d.Pulse, func(elapsed time.Duration) string { return f.line(elapsed, "", MaxLine) })
}

// Decide carries an answer out, or where that is nil, what was decided before. What
// came of it is told also to who stops the run.
func (d Driver) Decide(ctx context.Context, steps reviewpr.Steps, answer *graph.Answer) (Report, error) {
	flow, err := d.flow(steps)
	if err == nil {
		err = d.goOn(ctx, flow, answer)
	}
	if err != nil {
		return Report{}, err
	}
	return ReportOf(context.WithoutCancel(ctx), flow, d.Store, d.Thread, d.Protect)
}

func (d Driver) flow(steps reviewpr.Steps) (*graph.Flow[reviewpr.State], error) {
	return reviewpr.New(steps, d.Store, d.options()...)
}

// options are how a graph runs over the driver's store.
func (d Driver) options() []graph.RunOption {
	o := append(Sealing(d.Protect), graph.WithClock(d.Clock))
	if d.Observe != nil {
		o = append(o, graph.Observe(d.Observe))
	}
	return o
}

func (d Driver) goOn(ctx context.Context, flow *graph.Flow[reviewpr.State], answer *graph.Answer) error {
	if answer == nil {
		_, err := flow.Continue(ctx, d.Thread)
		return err
	}
	_, err := flow.Resume(ctx, d.Thread, *answer)
	return err
}

// usage is what the thread has used up to now; nothing where there is none yet.
func (d Driver) usage(ctx context.Context, flow *graph.Flow[reviewpr.State]) cost.Usage {
	view, _ := flow.Inspect(ctx, d.Thread)
	return view.State.Usage
}

// drafted reports the draft, with what lay behind files that failed.
func (d Driver) drafted(ctx context.Context, flow *graph.Flow[reviewpr.State], before cost.Usage) (Report, error) {
	r, err := ReportOf(ctx, flow, d.Store, d.Thread, d.Protect)
	if err == nil {
		d.Spent.Cost += r.Usage.Cost - before.Cost
		d.Spent.Unpriced += r.Usage.Unpriced - before.Unpriced
		r.explain(d.Reviewer, d.Warn)
	}
	return r, err
}

// AnswerTo returns an answer to the gate that a draft waits at.
func AnswerTo(m checkpoint.Manifest, answer decision.Answer) *graph.Answer {
	return &graph.Answer{Gate: m.GateID, Value: answer}
}

// Sealing is how snapshots are sealed: under the key where drafts are.
func Sealing(p checkpoint.Protection) []graph.RunOption {
	if !p.Keyed() {
		return nil
	}
	return []graph.RunOption{graph.WithKey(p.Key.Derive("graph snapshot"))}
}

// Facts returns what a draft says of who makes it, how and when.
func (f *Front) Facts(ctx context.Context, s settings.Settings, r *wire.Reviewer) reviewpr.Draft {
	now := f.Clock()
	return reviewpr.Draft{
		Instance: s.Instance, Rules: r.Rules, Model: r.Model, GateFrom: s.GateFrom, Prompt: r.Prompt(),
		CreatedAt: now, ExpiresAt: now.Add(s.Expires), ToolVersion: wire.Version(), MaxCost: r.Account.Cap,
		Trace: trace.Parent(ctx),
	}
}

// MayRevise refuses to have rules revise, or a draft that they made.
func MayRevise(r *wire.Reviewer, d reviewpr.Draft) error {
	const next = "change single findings with commands such as /drop F2, or draft again with a model"
	switch {
	case d.Rules:
		return problem.Usage("this draft was made by rules, and rules cannot be revised", next)
	case r.Rules:
		return problem.Usage("rules cannot be revised, and "+wire.NoModel,
			"for a model: OPENAI_API_KEY=… or --base-url; without one "+next)
	}
	return nil
}

// Redrafted takes over the facts of a run that revised a draft. The draft may have
// cost as much as before, and what the run may cost.
func Redrafted(r *wire.Reviewer, d, facts reviewpr.Draft, before cost.Usage) reviewpr.Draft {
	d.CreatedAt, d.ExpiresAt, d.ToolVersion, d.Prompt, d.Trace = facts.CreatedAt, facts.ExpiresAt, facts.ToolVersion,
		facts.Prompt, facts.Trace
	if d.MaxCost = 0; r.Account.Cap > 0 {
		d.MaxCost = before.Cost + r.Account.Cap
	}
	return d
}

// EndRun ends the span of this process's part of a run with what it came to. ref is the
// zero one for local input, and err what ended the process.
func (f *Front) EndRun(span *trace.Span, ref pull.Ref, r Report, began time.Time, err error) {
	outcome := r.Outcome
	if outcome == "" {
		outcome = OutcomeOf(err)
	}
	came := trace.Came{Repository: ref.FullName(), Pull: ref.Number, Outcome: outcome, Findings: len(r.Findings),
		Seconds: f.Now().Sub(began).Seconds()}
	if spent := price(f.Spent).Cost; spent != nil {
		micros := int64(*spent)
		came.Cost = &micros
	}
	span.Came(came)
	span.End(err)
}
