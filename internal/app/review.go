package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/triage"
	"github.com/org/pr-review-action/internal/wire"
)

// review reviews what the argument names, up to the decision.
func (a *app) review(ctx context.Context, args []string, o *options) (err error) {
	given, err := o.verdict()
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return problem.Usage("review takes one change", a.name+" review demo, or a pull request, a range such as main...HEAD, a diff's file, or -")
	}
	o.Expires = cmp.Or(o.Expires, settings.DefaultExpires)
	ctx, over, err := a.Traced(ctx, o.Settings, o.trace, a.warn)
	if err != nil {
		return err
	}
	defer over()
	ctx, span := trace.Run(ctx, "review", a.Now())
	defer func() { span.End(err) }()
	r, err := a.local(ctx, args[0], o)
	if err != nil {
		return err
	}
	result, err := r.run(ctx)
	if err != nil {
		return err
	}
	switch {
	case result.revising():
		return a.finishRevision(ctx, r.session, result, given, o)
	case result.state.Decision != nil:
		if o.Anew && !o.quiet {
			a.warn("this commit was posted before, and a commit is reviewed once: push another for a new review")
		}
		return a.again(ctx, r.session, result, given, o)
	case result.parked():
		return a.decide(ctx, r.session, result, given, o)
	}
	return a.finish(result, o)
}

// session is a thread of the local store, with what is needed to decide it.
type session struct {
	store  wire.Store
	thread string
	api    *github.Client // nil for local input
}

// localRun is a review on this machine.
type localRun struct {
	session
	app      *app
	options  *options
	change   ingest.Change
	reviewer *wire.Reviewer
	progress *progress
	usedIDs  int // of the draft that this one replaces
}

// local reads the change and opens the store. Nothing is paid yet.
func (a *app) local(ctx context.Context, arg string, o *options) (*localRun, error) {
	r := &localRun{app: a, options: o, progress: a.newProgress(o)}
	reviewer, err := a.NewReviewer(o.Settings, r.progress.wait)
	if err != nil {
		return nil, err
	}
	r.reviewer, r.progress.soFar = reviewer, reviewer.SoFar
	if reviewer.Rules && o.Provider == "auto" && !o.quiet {
		fmt.Fprintln(a.Stderr, noModelNotice)
	}
	if r.change, err = a.read(ctx, arg, o, &r.session); err != nil {
		return nil, err
	}
	reviewer.Named(r.change.Config)
	if r.store, err = a.OpenStore(ctx, o.store); err != nil {
		return nil, err
	}
	r.thread = r.change.Thread
	return r, nil
}

// run continues the change's thread, or starts it. One that is parked, ended or
// decided is reported as it stands.
func (r *localRun) run(ctx context.Context) (report, error) {
	paid, err := r.paid(ctx)
	if err != nil {
		return report{}, err
	}
	if err := r.forgetStale(ctx); err != nil {
		return report{}, err
	}
	flow, err := reviewpr.New(reviewpr.Steps{
		Ingest:      func(context.Context) (ingest.Change, error) { return r.change, nil },
		Admit:       r.admit,
		Reviewer:    r.reviewer,
		Concurrency: r.options.Concurrency,
		Paid:        paid,
		Recall:      r.recall,
		Failed:      r.reviewer.Failed,
		Deadline:    r.app.deadline(r.options.Settings),
	}, r.store, graph.Observe(r.progress.observe), graph.WithClock(r.app.clock))
	if err != nil {
		return report{}, err
	}
	before, err := reportOf(ctx, flow, r.store, r.thread, checkpoint.Protection{})
	if err == nil && (before.revising() || before.state.Decision != nil || before.Outcome != reviewpr.Failed) {
		return before, nil
	}
	if err := r.prepare(ctx, paid); err != nil {
		return report{}, err
	}
	r.progress.start()
	_, err = flow.Run(ctx, r.thread, reviewpr.State{Draft: r.draft(ctx)})
	r.progress.Stop()
	if err != nil {
		return report{}, err
	}
	result, err := reportOf(ctx, flow, r.store, r.thread, checkpoint.Protection{})
	if u := result.Usage; u.Calls > 0 && u.Tokens() == 0 && u.Cost > 0 {
		r.app.warn("the server tells no usage, so every answer is counted at what it may have cost")
	}
	result.explain(r.reviewer, r.app.warn)
	return result, err
}

// prepare settles whom the reviewer asks, and says what that may cost.
func (r *localRun) prepare(ctx context.Context, paid reviewpr.Paid) error {
	if err := r.reviewer.Prepare(ctx, wire.Brief{Change: r.change, Paid: paid, API: r.api, Workspace: "."}); err != nil {
		return err
	}
	if !r.options.quiet {
		for _, line := range r.reviewer.Expects(r.change, paid) {
			fmt.Fprintln(r.app.Stderr, guard.Line(line, maxLine))
		}
	}
	return nil
}

// clock gives the time that a thread is said to be made at.
func (a *app) clock() time.Time { return a.Now().UTC().Truncate(time.Second) }

// deadline is when no further file is begun; zero without a limit.
func (a *app) deadline(s settings.Settings) time.Time {
	if s.MaxTime == 0 {
		return time.Time{}
	}
	return a.Now().Add(s.MaxTime)
}

// paidThreads bounds how many threads of one pull request or folder are looked
// through for results that were paid for.
const paidThreads = 16

// paid gathers what the store's threads of the same pull request or folder have
// paid for: a later commit takes the files that did not change, and a thread
// that is dropped as stale leaves its results to the next.
func (r *localRun) paid(ctx context.Context) (reviewpr.Paid, error) {
	var paid reviewpr.Paid
	if r.reviewer.Rules {
		return paid, nil
	}
	ids, err := r.alike(ctx)
	if err != nil {
		return paid, err
	}
	for _, id := range ids {
		saved, err := r.store.Load(ctx, id)
		if err != nil {
			continue // what cannot be read was not paid for, as far as anybody knows
		}
		if r.options.Anew {
			paid.Count(saved, r.thread)
			continue
		}
		paid.Add(saved, r.thread)
	}
	return paid, nil
}

// recall is what was said before of the pull request, or in the last decided
// review of the range or folder.
func (r *localRun) recall(ctx context.Context, change ingest.Change) ([]finding.Earlier, error) {
	ids, err := r.alike(ctx)
	if err != nil {
		return nil, err
	}
	flow, err := reviewpr.New(reviewpr.Steps{}, r.store)
	if err != nil {
		return nil, err
	}
	var decided []reviewpr.State
	for _, id := range ids {
		if view, err := flow.Inspect(ctx, id); err == nil && view.Status == graph.Ended && view.State.Decision != nil { // what cannot be read tells nothing
			decided = append(decided, view.State)
		}
	}
	slices.SortStableFunc(decided, func(a, b reviewpr.State) int { return b.Decision.At.Compare(a.Decision.At) })
	var known [][]finding.Earlier
	for _, s := range decided {
		if said := s.Said(); len(said) > 0 {
			known = append(known, said)
		}
	}
	switch {
	case change.Pull != nil:
		return remembered(ctx, r.reviews(r.app, r.options, change.Pull.Ref, decided...), r.options.Instance, change, known, r.app.warn)
	case len(known) > 0 && strings.Contains(r.thread, "#"): // else it is a diff of anything
		return known[0], nil
	}
	return nil, nil
}

// alike are the store's threads of the same pull request, range or folder: first
// this one, and what was set aside of it.
func (r *localRun) alike(ctx context.Context) ([]string, error) {
	ids, err := r.store.Threads(ctx)
	about := func(id string) string { return id[:strings.LastIndexByte(id, ':')+1] }
	ids = slices.DeleteFunc(ids, func(id string) bool { return about(id) != about(r.thread) })
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(strings.Index(b, r.thread), strings.Index(a, r.thread)) })
	return ids[:min(len(ids), paidThreads)], err
}

// warn tells of what does not end the command.
func (a *app) warn(text string) { fmt.Fprintln(a.Stderr, "warning: "+guard.Text(text)) }

// facts are what a draft says of who makes it, how and when.
func (a *app) facts(ctx context.Context, s settings.Settings, r *wire.Reviewer) reviewpr.Draft {
	now := a.clock()
	return reviewpr.Draft{
		Instance: s.Instance, Rules: r.Rules, Model: r.Model, GateFrom: s.GateFrom, Prompt: r.Prompt(),
		CreatedAt: now, ExpiresAt: now.Add(s.Expires), ToolVersion: wire.Version(), MaxCost: r.Account.Cap, Trace: trace.Parent(ctx),
	}
}

func (r *localRun) draft(ctx context.Context) reviewpr.Draft {
	d := r.app.facts(ctx, r.options.Settings, r.reviewer)
	d.UsedIDs, d.For = r.usedIDs, r.purpose()
	if p := r.change.Pull; p != nil {
		d.Web = p.Web()
	}
	return d
}

func (r *localRun) admit(ctx context.Context, c ingest.Change) (string, error) {
	if c.Pull == nil || r.options.admit {
		return "", nil
	}
	reason, err := triage.Admit(ctx, *c.Pull, triage.Event{Explicit: true}, c.Config.Admission, r.api)
	if reason != "" {
		reason += " (--admit reviews it all the same)"
	}
	return reason, err
}

// finish prints what a run without a decision came to.
func (a *app) finish(r report, o *options) error {
	if o.json {
		return errors.Join(r.print(a.Stdout), failure(r))
	}
	columns, _ := terminal(a.Stdout)
	if len(r.Files) > 0 {
		fmt.Fprint(a.Stdout, render.Terminal(r.state.Review(), a.look(columns)))
	}
	if r.Outcome == reviewpr.Failed {
		fmt.Fprintln(a.Stdout, r.Outcome, r.Thread)
		fmt.Fprintln(a.Stderr, "error: "+guard.Text(r.Message))
		return failure(r)
	}
	fmt.Fprintln(a.Stdout, r.Outcome, cmp.Or(r.Message, r.place, r.Thread))
	return nil
}

// failure is the error of a run that failed. It was shown with the outcome.
func failure(r report) error {
	switch {
	case r.failed != nil:
		return r.failed
	case r.Outcome != reviewpr.Failed:
		return nil
	case r.state.Spent():
		return reported{problem.As(problem.Spent, errors.New(r.Message), "")}
	}
	return reported{errors.New(r.Message)}
}

func (a *app) look(columns int) render.TerminalOptions {
	return render.TerminalOptions{Width: columns, Color: columns > 0 && a.getenv("NO_COLOR") == ""}
}

// noModelNotice tells a command line that reviews by rules of the other way.
const noModelNotice = "No model is configured. For one: OPENAI_API_KEY=… or --base-url."

// resuming is the command that goes on with a thread. No password is in it.
func (a *app) resuming(thread string, o *options) string {
	command := a.name + " resume " + quoted(abbreviated(thread))
	if o.store != "" && !wire.WithPassword(o.store) {
		command += " --store " + quoted(o.store)
	}
	return command
}
