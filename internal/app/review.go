package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/triage"
)

// review reviews what the argument names, up to the decision.
func (a *app) review(ctx context.Context, args []string, o *options) error {
	given, err := o.verdict()
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return usageError("review takes one change", a.name+" review demo, or a pull request, a range such as main...HEAD, a diff's file, or -")
	}
	o.expires = cmp.Or(o.expires, defaultExpires)
	r, err := a.local(ctx, args[0], o)
	if err != nil {
		return err
	}
	result, err := r.run(ctx)
	if err != nil {
		return err
	}
	switch {
	case result.state.Decision != nil:
		return a.again(ctx, r.session, result, given, o)
	case result.parked():
		return a.decide(ctx, r.session, result, given, o)
	}
	return a.finish(result, o)
}

// session is a thread of the local store, with what is needed to decide it.
type session struct {
	store  *filestore.Store
	thread string
	api    *github.Client // nil for local input
}

// localRun is a review on this machine.
type localRun struct {
	session
	app      *app
	options  *options
	change   ingest.Change
	reviewer *reviewer
	progress *progress
}

// local reads the change and opens the store. Nothing is paid yet.
func (a *app) local(ctx context.Context, arg string, o *options) (*localRun, error) {
	r := &localRun{app: a, options: o, progress: a.newProgress(o)}
	reviewer, err := a.reviewer(o.settings, r.progress.wait)
	if err != nil {
		return nil, err
	}
	r.reviewer, r.progress.soFar = reviewer, reviewer.soFar
	if reviewer.rules && o.provider == "auto" && !o.quiet {
		fmt.Fprintln(a.Stderr, "No model is configured. For one: OPENAI_API_KEY=… or --base-url.")
	}
	if r.store, err = a.openStore(o); err != nil {
		return nil, err
	}
	if r.change, err = a.read(ctx, arg, o, &r.session); err != nil {
		return nil, err
	}
	r.thread = r.change.Thread
	return r, nil
}

func (a *app) openStore(o *options) (*filestore.Store, error) {
	dir := o.store
	if dir == "" {
		var err error
		if dir, err = filestore.Default(a.getenv); err != nil {
			return nil, usageError("there is no folder to keep drafts in", "name one: --store DIR, or PR_REVIEW_STORE")
		}
	}
	if strings.HasPrefix(dir, "postgres://") {
		return nil, usageError("a Postgres store is not supported yet", "use a folder")
	}
	store, err := filestore.New(dir)
	if err != nil {
		return nil, usageError(err.Error(), "name a folder with --store")
	}
	return store, nil
}

// run continues the change's thread, or starts it. One that is parked, ended or
// decided is reported as it stands.
func (r *localRun) run(ctx context.Context) (report, error) {
	flow, err := reviewpr.New(reviewpr.Steps{
		Ingest:      func(context.Context) (ingest.Change, error) { return r.change, nil },
		Admit:       r.admit,
		Reviewer:    r.reviewer,
		Concurrency: r.options.concurrency,
	}, r.store, graph.Observe(r.progress.observe))
	if err != nil {
		return report{}, err
	}
	if err := r.forgetStale(ctx, flow); err != nil {
		return report{}, err
	}
	before, err := reportOf(ctx, flow, r.store, r.thread)
	if err == nil && (before.state.Decision != nil || before.Outcome != reviewpr.Failed) {
		return before, nil
	}
	r.progress.start()
	_, err = flow.Run(ctx, r.thread, reviewpr.State{Draft: r.draft()})
	r.progress.stop()
	if err != nil {
		return report{}, err
	}
	result, err := reportOf(ctx, flow, r.store, r.thread)
	if cause := r.reviewer.why(); cause != nil {
		r.app.explainFailures(&result, cause)
	}
	return result, err
}

// explainFailures says what lay behind files that failed. The cause may name an
// address, so it is not in the review.
func (a *app) explainFailures(r *report, cause error) {
	if r.Outcome == reviewpr.Failed {
		r.Message += ": " + explain(cause)
		return
	}
	fmt.Fprintln(a.Stderr, "warning: a file could not be reviewed: "+guard.Text(explain(cause)))
}

func (r *localRun) draft() reviewpr.Draft {
	now := r.app.Now().UTC().Truncate(1e9)
	d := reviewpr.Draft{
		Instance: r.options.instance, Rules: r.reviewer.rules, Model: r.reviewer.model, GateFrom: r.options.gateFrom,
		CreatedAt: now, ExpiresAt: now.Add(r.options.expires), ToolVersion: Version(), Prompt: r.reviewer.prompt(),
	}
	if p := r.change.Pull; p != nil {
		d.Web = p.Web()
	}
	return d
}

// forgetStale drops a thread that is not a run of this very change by this
// reviewer: one that ended without a draft, that expired or was damaged, or
// whose diff or model is another. A decided one is kept and reported, an abort
// whatever the diff has become.
func (r *localRun) forgetStale(ctx context.Context, flow *graph.Flow[reviewpr.State]) error {
	view, err := flow.Inspect(ctx, r.thread)
	if errors.Is(err, graph.ErrNoThread) {
		return nil
	}
	if err != nil && !errors.Is(err, graph.ErrSnapshot) && !errors.As(err, new(*graph.VersionError)) {
		return err
	}
	if err == nil && !r.stale(view) && checkShown(view) == nil {
		return nil
	}
	return r.store.Remove(ctx, r.thread)
}

func (r *localRun) stale(view graph.View[reviewpr.State]) bool {
	d := view.State.Draft
	switch {
	case view.End == reviewpr.Aborted:
		return false
	case view.End == reviewpr.Skipped, view.End == reviewpr.Failed:
		return true
	case d.DiffDigest != r.change.Digest():
		return true // also where the run stopped before the change was read
	case view.Status == graph.Ended:
		return false
	case d.Rules != r.reviewer.rules, d.Model != r.reviewer.model:
		return true
	}
	return r.app.Now().After(d.ExpiresAt)
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
	if r.Outcome == reviewpr.Failed {
		return reported{errors.New(r.Message)}
	}
	return nil
}

func (a *app) look(columns int) render.TerminalOptions {
	return render.TerminalOptions{Width: columns, Color: columns > 0 && a.getenv("NO_COLOR") == ""}
}
