package local

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
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/linter"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/triage"
	"github.com/org/pr-review-action/internal/wire"
)

// local reads the change and opens the store. It pays for nothing.
func (a *Terminal) local(ctx context.Context, arg string) (*Run, error) {
	r := &Run{Terminal: a}
	err := r.chooseReviewer()
	if err != nil {
		return nil, err
	}
	if arg == "" || arg == "." {
		r.change, err = r.workTree(ctx)
	} else {
		r.change, err = a.read(ctx, arg, &r.Session)
	}
	if err != nil {
		return nil, err
	}
	if r.reviewer.Rules && a.Provider == "auto" {
		a.Say(NoModelNotice)
	}
	a.warnOverruled(r.change.Config)
	r.opened = r.change.Pull != nil
	r.reviewer.NameModel(r.change.Config)
	if r.Store, err = a.OpenStore(ctx, a.Store); err != nil {
		return nil, err
	}
	r.Thread = r.change.Thread
	a.About = r.Thread
	return r, nil
}

// chooseReviewer sets the reviewer and the progress line. It sends no request.
func (r *Run) chooseReviewer() (err error) {
	r.progress = r.NewProgress(r.Quiet || r.JSON)
	r.reviewer, err = r.NewReviewer(r.Settings, r.progress.wait)
	return err
}

// warnOverruled warns of lines of the settings file that have no effect.
func (a *Terminal) warnOverruled(c config.Config) {
	for _, line := range c.Overruled {
		if !a.Quiet {
			a.Warn(line)
		}
	}
}

// run continues the change's thread, or starts it. A thread that is parked, ended or decided
// is only reported.
func (r *Run) run(ctx context.Context) (_ driver.Report, err error) {
	paid, err := r.paid(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	old, err := r.giveUpStale(ctx)
	switch {
	case err != nil:
		return driver.Report{}, err
	case old == nil:
		return r.advance(ctx, paid)
	}
	defer func() { err = errors.Join(err, old.release()) }()
	r.Store = old.next
	result, err := r.advance(ctx, paid)
	r.Store = old.next.Store
	if err == nil && result.Outcome != reviewpr.Failed && result.Outcome != reviewpr.Skipped {
		return result, r.replaceThread(context.WithoutCancel(ctx), *old) // its draft is about to be shown
	}
	if old.view.Status == graph.Paused && old.view.State.Draft.Subject.Digest == r.change.Digest() &&
		!r.Now().After(old.view.State.Draft.ExpiresAt) {
		r.Warn(stillWaits + r.Resuming(r.Thread))
	}
	return result, err
}

// advance continues the thread in r.Store, or starts it.
func (r *Run) advance(ctx context.Context, paid reviewpr.Paid) (driver.Report, error) {
	before, err := r.Report(ctx, r.Session)
	if err == nil && (before.Revising() || before.State.Decision != nil || before.Outcome != reviewpr.Failed) {
		return before, nil
	}
	var reading func(context.Context) (ingest.Change, error)
	if r.opened { // the files are read inside the graph
		reading = r.files
	}
	result, err := r.driver().Draft(ctx, wire.Brief{Change: r.change, Paid: paid, API: r.API, Workspace: "."},
		reading, reviewpr.Steps{Admit: r.admit, Concurrency: r.Concurrency, Recall: r.recall,
			Deadline: r.Deadline(r.Settings)}, func(c ingest.Change) (reviewpr.Draft, error) {
			r.change = c
			return r.draft(ctx), nil
		})
	r.progress.Stop()
	if u := result.Usage; u.Cost > 0 && u.Tokens() == 0 && result.Outcome != reviewpr.Failed {
		r.Warn("the server reports no usage, so every answer is counted at what it may have cost")
	}
	return result, err
}

func (r *Run) files(ctx context.Context) (ingest.Change, error) {
	return ingest.Files(ctx, r.API, r.change)
}

// readFiles reads the files of a pull request that was only opened.
func (r *Run) readFiles(ctx context.Context) error {
	if !r.opened {
		return nil
	}
	change, err := r.files(ctx)
	if err == nil {
		r.change, r.opened = change, false
	}
	return err
}

// reviews returns the reviews of a pull request as the command line sees them. It needs no
// record on GitHub for decisions in its local store.
func (r *Run) reviews(ref pull.Ref, decided ...reviewpr.State) *post.Ours {
	all := r.Reviews(r.Settings, r.API, driver.Runs(r.API, ref, "", r.DraftWorkflow, r.DecideWorkflow))
	for _, d := range decided {
		all.Decided[d.Decision.Digest] = d.Decision.Decision == decision.Approve
	}
	return all
}

// linters returns where the linters' results are. Paths are relative to the working folder.
func (r *Run) linters() linter.Source {
	return linter.Source{Findings: r.Findings, Wait: r.FindingsWait, Dir: "."}
}

// driver returns the driver of this run's thread.
func (r *Run) driver() driver.Driver {
	d := driver.Driver{Front: r.Front, Store: r.Store, Thread: r.Thread, Reviewer: r.reviewer,
		Linters: r.linters(), Warn: func(text string) {
			r.progress.clear()
			r.Warn(text)
		}, Tell: func(line string) {
			r.progress.clear()
			r.Say(guard.Line(line, driver.MaxLine))
		}}
	if r.progress.columns > 0 { // a log or a pipe has no live line
		d.Live = r.progress.live
	}
	return d
}

// paidThreads bounds how many threads of one pull request or folder are searched for paid
// results.
const paidThreads = 16

// paid collects what the store's threads of the same pull request or folder have paid for: a
// later commit reuses the results for unchanged files, and a thread that is dropped as stale
// leaves its results to the next.
func (r *Run) paid(ctx context.Context) (reviewpr.Paid, error) {
	var paid reviewpr.Paid
	if r.reviewer.Rules {
		return paid, nil
	}
	ids, err := r.relatedThreads(ctx)
	if err != nil {
		return paid, err
	}
	underWay := "" // what an earlier run with --again left counts as its own, nothing else does
	for _, id := range ids {
		saved, err := r.Store.Load(ctx, id)
		if err != nil {
			continue // a thread that cannot be read counts as not paid for
		}
		if r.Anew && id == r.Thread { // it comes first
			underWay = successorPrefix(r.Thread, true, saved)
		}
		if r.Anew && (underWay == "" || !strings.HasPrefix(id, underWay)) {
			paid.Count(saved, r.Thread)
			continue
		}
		paid.Add(saved, r.Thread)
	}
	return paid, nil
}

// recall returns what was said before about the pull request, or in the last decided review
// of the range or folder, on the same branch, that has findings.
func (r *Run) recall(ctx context.Context, change ingest.Change) ([]finding.Earlier, error) {
	ids, err := r.relatedThreads(ctx)
	if err != nil {
		return nil, err
	}
	flow, err := reviewpr.New(reviewpr.Steps{}, r.Store)
	if err != nil {
		return nil, err
	}
	var decided []reviewpr.State
	for _, id := range ids {
		// a thread that cannot be read is skipped
		view, err := flow.Inspect(ctx, id)
		if s := view.State; err == nil && view.Status == graph.Ended && s.Decision != nil &&
			s.Draft.Branch == change.Branch {
			decided = append(decided, s)
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
		return driver.Recall(ctx, r.reviews(change.Pull.Ref, decided...), r.Instance, change,
			known, r.Warn)
	case len(known) > 0 && strings.Contains(r.Thread, "#"): // otherwise it is a diff without a known subject
		return known[0], nil
	}
	return nil, nil
}

// relatedThreads returns up to paidThreads threads of the store about the same pull request, range or
// folder. This run's thread and what was set aside of it come first.
func (r *Run) relatedThreads(ctx context.Context) ([]string, error) {
	ids, err := r.Store.Threads(ctx)
	about := func(id string) string { return id[:strings.LastIndexByte(id, ':')+1] }
	ids = slices.DeleteFunc(ids, func(id string) bool { return about(id) != about(r.Thread) })
	slices.SortStableFunc(ids, func(a, b string) int {
		return cmp.Compare(strings.Index(b, r.Thread), strings.Index(a, r.Thread))
	})
	return ids[:min(len(ids), paidThreads)], err
}

func (r *Run) draft(ctx context.Context) reviewpr.Draft {
	d := r.Facts(ctx, r.Settings, r.reviewer)
	d.UsedIDs, d.For = r.usedIDs, r.purpose()
	if p := r.change.Pull; p != nil {
		d.Web = p.Web()
	}
	return d
}

func (r *Run) admit(ctx context.Context, c ingest.Change) (string, error) {
	if c.Pull == nil || r.Options.admit {
		return "", nil
	}
	reason, err := triage.Admit(ctx, *c.Pull, triage.Event{Explicit: true}, c.Config.Admission, r.API)
	if reason != "" {
		reason += " (--admit reviews it all the same)"
	}
	return reason, err
}

// NoModelNotice tells a user whose change is reviewed by rules how to configure a model.
const NoModelNotice = "No model is configured. For one: OPENAI_API_KEY=… or --base-url."

// purpose returns a hash of what a result depends on: the change, its reviewer, the reviewer's
// instructions and the settings.
func (r *Run) purpose() string {
	c, by := r.change, r.reviewer
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{
		c.Digest(), by.Model, by.Endpoint, by.Prompt(), fmt.Sprintf("%q", c.Guidance),
		c.Config.Fingerprint(), string(r.GateFrom), r.TestResults,
		r.linters().Digest(),
	}))
	return hex.EncodeToString(sum[:])
}

// isStale reports whether a run is not one of this very change by this reviewer under these
// settings, cannot be decided any more, or can continue under a higher cap.
func (r *Run) isStale(view graph.View[reviewpr.State]) bool {
	d := view.State.Draft
	switch {
	case view.End == reviewpr.Aborted:
		return false
	case view.End == reviewpr.Skipped, view.End == reviewpr.Failed:
		return true
	case d.Subject.Digest != r.change.Digest():
		return true // also if the run stopped before the change was read
	case view.State.Decision != nil:
		return false
	case d.For != r.purpose():
		return true
	case view.Status == graph.Paused && view.State.LacksMoney() &&
		cmp.Or(r.change.Config.Cap, settings.DefaultMaxCost) > d.MaxCost:
		return true // a higher cap lets it continue; its paid results are reused
	}
	return view.Status != graph.Ended && r.Now().After(d.ExpiresAt)
}
