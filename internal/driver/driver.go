// Package driver runs a thread through the graph for both fronts, the command line and
// a workflow step, and reports the result: the report, error messages, the exit
// code, the SARIF file.
//
// It asks no questions and prints nothing. Start reading at Driver.
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

// LastAnswers is the time that a cancelled run waits for outstanding answers: GitHub gives
// a cancelled job 7.5 s before it asks again, and 2.5 s more before it kills the job.
const LastAnswers = 3 * time.Second

// Driver drafts, revises and decides a thread, and reports the result.
type Driver struct {
	*Front
	Store    graph.Store
	Thread   string
	Protect  checkpoint.Protection // of snapshots and draft; zero on the command line
	Reviewer *wire.Reviewer        // nil if a draft is being decided
	Tell     func(string)          // receives what is about to be requested or done
	Live     func(Line)            // receives the progress of a draft at each change; if nil, Tell does every 30 s
	Linters  linter.Source         // the source of linter results for the draft
	Warn     func(string)

	observe func(graph.Event)       // receives the events of a run; nil to ignore them
	stage   func([]reviewpr.Status) // receives which sources of context are being fetched
}

// Line returns the current progress and what the draft waits for, in at most columns.
type Line func(waiting string, columns int) string

// Draft reviews a change up to its gate. read reads the change inside the graph, so
// that a failure is the ingest node's; if it is nil, b already contains the change.
// steps holds what the front provides, and facts returns the draft's facts about
// its run once the reviewer knows its cap. The linters' results are read first.
func (d Driver) Draft(ctx context.Context, b wire.Brief, read func(context.Context) (ingest.Change, error),
	steps reviewpr.Steps, facts func(ingest.Change) (reviewpr.Draft, error)) (Report, error) {
	d, stop := d.withProgress(ctx)
	defer stop()
	gather := func(context.Context) ticket.Context { return ticket.Context{} }
	ready := func(ctx context.Context, c ingest.Change) (_ reviewpr.Draft, err error) {
		b.Change = c
		if err = d.prepare(ctx, &b); err == nil {
			gather, err = d.contextFetcher(b)
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
	if steps.Reviewer, steps.Paid = d.Reviewer, b.Paid; !d.Reviewer.Rules {
		steps.Overview = d.Reviewer.Overview
	}
	return d.run(ctx, steps, func(flow *graph.Flow[reviewpr.State]) error {
		_, err := flow.Run(ctx, d.Thread, begin)
		return err
	})
}

// prepare reads the linters' results, with a warning for each one missing, prepares
// the reviewer, and reports what the review may cost.
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
		err = d.Reviewer.Prepare(*b)
	}
	if err != nil {
		return err
	}
	for _, line := range d.Reviewer.Forecast(b.Change, b.Paid) {
		d.Tell(line)
	}
	return nil
}

// contextFetcher returns a function that fetches the context of a change. It fetches
// nothing if no source is configured.
func (d Driver) contextFetcher(b wire.Brief) (func(context.Context) ticket.Context, error) {
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

// Revise revises the waiting draft as answer requests, or, if answer is nil,
// continues an unfinished revision. steps holds its bounds and a function that
// gives the new draft this run's facts.
func (d Driver) Revise(ctx context.Context, b wire.Brief, steps reviewpr.Steps, answer *graph.Answer) (Report, error) {
	d, stop := d.withProgress(ctx)
	defer stop()
	if err := d.Reviewer.Prepare(b); err != nil {
		return Report{}, err
	}
	if notice := d.Reviewer.Account.Notice; notice != "" {
		d.Tell(notice)
	}
	gather, err := d.contextFetcher(b)
	if err != nil {
		return Report{}, err
	}
	steps.Redraft = d.Reviewer.Redraft
	steps.Context = func(ctx context.Context, _ reviewpr.State) ticket.Context { return gather(ctx) }
	return d.run(ctx, steps, func(flow *graph.Flow[reviewpr.State]) error {
		return d.resumeOrContinue(ctx, flow, answer)
	})
}

// run makes a draft with steps, to which it adds what every draft has. It reports the draft, and the causes of files
// that failed.
func (d Driver) run(ctx context.Context, steps reviewpr.Steps,
	run func(*graph.Flow[reviewpr.State]) error) (Report, error) {
	began := d.Now()
	steps.Elapsed = func() time.Duration { return d.Now().Sub(began) }
	steps.Failed, steps.Learn, steps.Remind = d.Reviewer.Failed, d.Reviewer.Learn, d.Reviewer.Remind
	flow, err := reviewpr.New(steps, d.Store, d.options()...)
	if err != nil {
		return Report{}, err
	}
	before, _ := flow.Inspect(ctx, d.Thread) // nothing is used where there is none yet
	if err := run(flow); err != nil {
		return Report{}, err
	}
	r, err := ReportOf(ctx, flow, d.Store, d.Thread, d.Protect)
	if err == nil {
		d.addSpent(before.State.Usage, r.Usage)
		r.explain(d.Reviewer, d.Warn)
	}
	return r, err
}

// withProgress returns a driver that reports its progress: to Live at once, or to Tell every half minute.
func (d Driver) withProgress(ctx context.Context) (Driver, func()) {
	began := d.Now()
	f := &progress{soFar: d.Reviewer.SoFar, statuses: []reviewpr.Status{reviewpr.Initialize}, live: func(f *progress) {
		if d.Live != nil {
			d.Live(func(waiting string, columns int) string { return f.line(d.Now().Sub(began), waiting, columns) })
		}
	}}
	d.observe, d.stage = f.observe, f.setStatuses
	pulse := d.Tell
	if d.Live != nil {
		pulse = nil
	}
	return d, Beat(ctx, pulse, func(elapsed time.Duration) string { return f.line(elapsed, "", MaxLine) })
}

// Decide carries out an answer or, if that is nil, the earlier decision. It returns
// the result even if the run is being stopped.
func (d Driver) Decide(ctx context.Context, steps reviewpr.Steps, answer *graph.Answer) (Report, error) {
	flow, err := reviewpr.New(steps, d.Store, d.options()...)
	if err == nil {
		err = d.resumeOrContinue(ctx, flow, answer)
	}
	if err != nil {
		return Report{}, err
	}
	return ReportOf(context.WithoutCancel(ctx), flow, d.Store, d.Thread, d.Protect)
}

// options returns the options for running a graph over the driver's store.
func (d Driver) options() []graph.RunOption {
	o := append(Sealing(d.Protect), graph.WithClock(d.Clock))
	if d.observe != nil {
		o = append(o, graph.Observe(d.observe))
	}
	return o
}

func (d Driver) resumeOrContinue(ctx context.Context, flow *graph.Flow[reviewpr.State], answer *graph.Answer) error {
	if answer == nil {
		_, err := flow.Continue(ctx, d.Thread)
		return err
	}
	_, err := flow.Resume(ctx, d.Thread, *answer)
	return err
}

// addSpent adds to the process's cost what a thread has used since before.
func (f *Front) addSpent(before, after cost.Usage) {
	f.Spent.Cost += after.Cost - before.Cost
	f.Spent.Unpriced += after.Unpriced - before.Unpriced
}

// AnswerTo returns an answer to the gate of a waiting draft.
func AnswerTo(m checkpoint.Manifest, answer decision.Answer) *graph.Answer {
	return &graph.Answer{Gate: m.GateID, Value: answer}
}

// Sealing returns the options that seal snapshots with the key, if drafts are sealed.
func Sealing(p checkpoint.Protection) []graph.RunOption {
	if !p.Keyed() {
		return nil
	}
	return []graph.RunOption{graph.WithKey(p.Key.Derive("graph snapshot"))}
}

// Facts returns the facts of a review's draft about who makes it, how and when.
func (f *Front) Facts(ctx context.Context, s settings.Settings, r *wire.Reviewer) reviewpr.Draft {
	return reviewpr.Draft{
		Manifest: f.Manifest(checkpoint.Subject{Instance: s.Instance}, s, r.Prompt()), Rules: r.Rules, Model: r.Model,
		GateFrom: s.GateFrom, MaxCost: r.Account.Cap, Trace: trace.Parent(ctx),
	}
}

// Manifest returns the facts of any draft about a subject: when it is made and by which version.
// prompt is the fingerprint of the model's prompts.
func (f *Front) Manifest(about checkpoint.Subject, s settings.Settings, prompt string) checkpoint.Manifest {
	now := f.Clock()
	return checkpoint.Manifest{Subject: about, CreatedAt: now, ExpiresAt: now.Add(s.Expires),
		ToolVersion: wire.Version(), PromptFingerprint: prompt}
}

// MayRevise refuses a revision by rules, and of a draft made by rules.
func MayRevise(r *wire.Reviewer, d reviewpr.Draft) error {
	const next = "change single findings with commands such as /drop F2, or draft again with a model"
	switch {
	case d.Rules:
		return problem.Usage("this draft was made by rules, and rules cannot be revised", next)
	case r.Rules:
		return problem.Usage("rules cannot be revised, and "+wire.NoModel,
			"set api-key (OPENAI_API_KEY) or base-url (in a workflow with provider: openai); without a model "+next)
	}
	return nil
}

// Redrafted returns the draft's facts after a revision. Its cost cap becomes what
// the draft cost before plus what the run may cost.
func Redrafted(r *wire.Reviewer, d, facts reviewpr.Draft, before cost.Usage) reviewpr.Draft {
	facts.Thread, facts.Subject, facts.ConfigFingerprint = d.Thread, d.Subject, d.ConfigFingerprint
	d.Manifest, d.Trace = facts.Manifest, facts.Trace
	if d.MaxCost = 0; r.Account.Cap > 0 {
		d.MaxCost = before.Cost + r.Account.Cap
	}
	return d
}

// EndRun ends the span of this process's part of a run with its result, by whose attributes runs are
// summed. ref is zero for local input; err is the error that ended the process.
func (f *Front) EndRun(span *trace.Span, ref pull.Ref, r Report, began time.Time, err error) {
	outcome := r.Outcome
	if outcome == "" {
		outcome = OutcomeOf(err)
	}
	span.Text("outcome", outcome)
	span.Number("findings", int64(len(r.Findings)))
	span.Float("seconds", f.Now().Sub(began).Seconds())
	if spent := withPrice(f.Spent).Cost; spent != nil {
		span.Number("cost_microusd", int64(*spent))
	}
	if ref.Number > 0 {
		span.Text("repository", ref.FullName())
		span.Number("pull", int64(ref.Number))
	}
	span.End(err)
}
