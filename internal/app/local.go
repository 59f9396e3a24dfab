package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/triage"
	"github.com/org/pr-review-action/internal/wire"
)

// local reads the change and opens the store. Nothing is paid yet.
func (a *app) local(ctx context.Context, arg string, o *options, admit bool) (*localRun, error) {
	r := &localRun{app: a, options: o, admitted: admit, progress: a.newProgress(o.quiet || o.json)}
	reviewer, err := a.NewReviewer(o.Settings, r.progress.wait)
	if err != nil {
		return nil, err
	}
	r.reviewer, r.progress.soFar = reviewer, reviewer.SoFar
	if arg == "" || arg == "." {
		r.change, err = r.workTree(ctx)
	} else {
		r.change, err = a.read(ctx, arg, o, &r.session)
	}
	if err != nil {
		return nil, err
	}
	if reviewer.Rules && o.Provider == "auto" && !o.quiet {
		fmt.Fprintln(a.Stderr, noModelNotice)
	}
	a.overruled(r.change.Config, o)
	r.opened = r.change.Pull != nil
	reviewer.Named(r.change.Config)
	if r.store, err = a.OpenStore(ctx, o.store); err != nil {
		return nil, err
	}
	r.thread = r.change.Thread
	return r, nil
}

// overruled warns of lines of the settings file that have no effect.
func (a *app) overruled(c config.Config, o *options) {
	for _, line := range c.Overruled {
		if !o.quiet {
			a.warn(line)
		}
	}
}

// run continues the change's thread, or starts it. One that is parked, ended or
// decided is reported as it stands.
func (r *localRun) run(ctx context.Context) (driver.Report, error) {
	paid, err := r.paid(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	if err := r.forgetStale(ctx); err != nil {
		return driver.Report{}, err
	}
	before, err := r.app.report(ctx, r.session)
	if err == nil && (before.Revising() || before.State.Decision != nil || before.Outcome != reviewpr.Failed) {
		return before, nil
	}
	result, err := r.driver().Draft(ctx, wire.Brief{Change: r.change, Paid: paid, API: r.api, Workspace: "."},
		r.reading(), reviewpr.Steps{
			Admit:       r.admit,
			Concurrency: r.options.Concurrency,
			Recall:      r.recall,
			Deadline:    r.app.Deadline(r.options.Settings),
		}, func(c ingest.Change) (reviewpr.Draft, error) {
			r.change = c
			r.progress.start()
			return r.draft(ctx), nil
		})
	r.progress.Stop()
	if u := result.Usage; u.Calls > 0 && u.Tokens() == 0 && u.Cost > 0 {
		r.app.warn("the server tells no usage, so every answer is counted at what it may have cost")
	}
	return result, err
}

// reading reads the files of a change that is only open, inside the graph; it is nil
// for one that was read.
func (r *localRun) reading() func(context.Context) (ingest.Change, error) {
	if !r.opened {
		return nil
	}
	return r.files
}

// driver takes the thread of this store through the graph.
func (r *localRun) driver() driver.Driver {
	d := driver.Driver{Front: r.app.Front, Store: r.store, Thread: r.thread, Reviewer: r.reviewer,
		Observe: r.progress.observe, Warn: r.warn, Stage: r.progress.stage, Linters: r.linters()}
	if !r.options.quiet {
		d.Tell = func(line string) {
			r.progress.clear()
			fmt.Fprintln(r.app.Stderr, guard.Line(line, driver.MaxLine))
		}
	}
	if r.progress.columns == 0 { // a log or a pipe, which has no live line
		d.Pulse = d.Tell
	}
	return d
}

// warn takes the live line away first.
func (r *localRun) warn(text string) {
	r.progress.clear()
	r.app.warn(text)
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
		// what cannot be read tells nothing
		if view, err := flow.Inspect(ctx, id); err == nil && view.Status == graph.Ended && view.State.Decision != nil {
			decided = append(decided, view.State)
		}
	}
	order.Stable(decided, func(a, b reviewpr.State) int { return b.Decision.At.Compare(a.Decision.At) })
	var known [][]finding.Earlier
	for _, s := range decided {
		if said := s.PostedFindings(); len(said) > 0 {
			known = append(known, said)
		}
	}
	switch {
	case change.Pull != nil:
		return driver.Recall(ctx, r.reviews(r.app, r.options, change.Pull.Ref, decided...), r.options.Instance, change,
			known, r.app.warn)
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
	slices.SortStableFunc(ids, func(a, b string) int {
		return cmp.Compare(strings.Index(b, r.thread), strings.Index(a, r.thread))
	})
	return ids[:min(len(ids), paidThreads)], err
}

func (r *localRun) draft(ctx context.Context) reviewpr.Draft {
	d := r.app.Facts(ctx, r.options.Settings, r.reviewer)
	d.UsedIDs, d.For = r.usedIDs, r.purpose()
	if p := r.change.Pull; p != nil {
		d.Web = p.Web()
	}
	return d
}

func (r *localRun) admit(ctx context.Context, c ingest.Change) (string, error) {
	if c.Pull == nil || r.admitted {
		return "", nil
	}
	reason, err := triage.Admit(ctx, *c.Pull, triage.Event{Explicit: true}, c.Config.Admission, r.api)
	if reason != "" {
		reason += " (--admit reviews it all the same)"
	}
	return reason, err
}

// noModelNotice tells a command line that reviews by rules of the other way.
const noModelNotice = "No model is configured. For one: OPENAI_API_KEY=… or --base-url."

// forgetStale drops a thread that is not a run of this very change by this
// reviewer under these settings: one that ended SKIPPED or FAILED, that expired or
// was damaged, that is for something else, or that a higher cap lets go on. A
// decided one is kept and reported, an abort whatever the diff has become; --again
// drops every one but a posted review.
func (r *localRun) forgetStale(ctx context.Context) (err error) {
	release, err := r.store.Lock(ctx, r.thread)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	flow, err := reviewpr.New(reviewpr.Steps{}, r.store)
	if err != nil {
		return err
	}
	view, err := flow.Inspect(ctx, r.thread)
	if errors.Is(err, graph.ErrNoThread) {
		return nil
	}
	if r.opened { // it is compared with what the thread has
		change, err := r.files(ctx)
		if err != nil {
			return err
		}
		r.change, r.opened = change, false
	}
	damaged := errors.Is(err, graph.ErrSnapshot) || errors.As(err, new(*graph.VersionError))
	if err != nil && !(damaged && r.options.Anew) {
		return err // it may hold a decision: giving it up is for a person to say
	}
	if err == nil && !r.stale(view) && driver.CheckShown(view) == nil {
		return nil
	}
	saved, err := r.store.Load(ctx, r.thread)
	if err == nil && (r.options.Anew || view.State.Draft.DiffDigest == r.change.Digest()) {
		r.usedIDs = reviewpr.UsedIDs(saved.Snapshot)
	}
	if err == nil {
		err = r.setAside(ctx, view, saved)
	}
	if err != nil && !damaged {
		return err
	}
	return r.store.Remove(ctx, r.thread)
}

// setAside keeps what a draft has paid for when another takes its place: its
// reviewer may be asked again, and this process may be killed.
func (r *localRun) setAside(ctx context.Context, view graph.View[reviewpr.State], saved graph.Saved) error {
	d := view.State.Draft
	unread := d.DiffDigest == "" // nothing is paid before the change is read
	if r.options.Anew || unread || d.Rules || d.For == "" || view.End == reviewpr.Skipped ||
		view.End == reviewpr.Failed {
		return nil
	}
	id := fmt.Sprintf("%s%s%.12s", r.thread, aside, d.For)
	err := r.store.Save(ctx, id, saved.Snapshot)
	for _, record := range saved.Journal {
		err = cmp.Or(err, r.store.Append(ctx, id, record))
	}
	return err
}

// purpose is a hash of what a result is for: the change, who reviews it, told what,
// and the settings.
func (r *localRun) purpose() string {
	c, by := r.change, r.reviewer
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{
		c.Digest(), by.Model, by.Endpoint, by.Prompt(), fmt.Sprintf("%q", c.Guidance),
		c.Config.Fingerprint(), string(r.options.GateFrom), r.options.TestResults,
		r.linters().Digest(),
	}))
	return hex.EncodeToString(sum[:])
}

func (r *localRun) stale(view graph.View[reviewpr.State]) bool {
	d := view.State.Draft
	switch {
	case r.options.Anew:
		return view.End != reviewpr.Posted || view.State.Pull == nil
	case view.End == reviewpr.Aborted:
		return false
	case view.End == reviewpr.Skipped, view.End == reviewpr.Failed:
		return true
	case d.DiffDigest != r.change.Digest():
		return true // also where the run stopped before the change was read
	case view.State.Decision != nil:
		return false
	case d.For != r.purpose(), r.richer(view):
		return true
	}
	return view.Status != graph.Ended && r.app.Now().After(d.ExpiresAt)
}

// richer reports whether a draft that ended for its cap can go on under a higher
// one. What it has paid for is taken over.
func (r *localRun) richer(view graph.View[reviewpr.State]) bool {
	cap := cmp.Or(r.change.Config.Cap, settings.DefaultMaxCost)
	return view.Status == graph.Paused && view.State.LacksMoney() && cap > view.State.Draft.MaxCost
}
