package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// showPull prints a draft of a pull request: the local store's where it has one of the
// present commit, else of those on GitHub the one of --code or the newest of the instance.
func (a *app) showPull(ctx context.Context, arg string, o *showOptions) error {
	ref, err := a.parseRef(arg)
	if err != nil {
		return err
	}
	thread, err := a.storedPull(ctx, ref)
	if err != nil {
		return err
	}
	if thread != "" {
		return a.show(ctx, []string{thread}, o)
	}
	r, err := a.remote(ctx, ref)
	if err != nil {
		return err
	}
	return r.show(ctx, o.only(a))
}

// onGitHub is where a draft lies whose thread, as typed, the local store does not have; nil
// where it is not found on GitHub either.
func (a *app) onGitHub(ctx context.Context, args []string) *remote {
	if len(args) != 1 {
		return nil
	}
	of, instance, ok := pull.OfThread(args[0])
	if !ok {
		return nil
	}
	store, err := a.OpenStore(ctx, a.store)
	if err != nil {
		return nil
	}
	if _, err := a.threadOf(ctx, store, args[0]); problem.Check(err) != 1 {
		return nil
	}
	ref, err := a.parseRef(of)
	if err != nil {
		return nil
	}
	there, options := *a, *a.options
	options.Instance, options.typed = instance, args[0]
	there.options = &options
	r, err := there.remote(ctx, ref)
	if err == nil {
		_, err = r.ofPull(ctx)
	}
	if err != nil {
		return nil
	}
	return r
}

// show prints the newest draft that the arguments name.
func (r *remote) show(ctx context.Context, only func(driver.Report) error) error {
	drafts, err := r.ofPull(ctx)
	if err != nil {
		return err
	}
	report, err := r.open(ctx, drafts[0])
	switch {
	case err != nil:
		return err
	case only != nil:
		return only(report)
	case r.json:
		return report.Print(r.Stdout)
	}
	r.showDraft(report)
	return r.tell(ctx, drafts[0], report)
}

// ofPull are the drafts that the arguments name, newest first: those of --code, else
// all of the pull request and instance. There is one at least.
func (r *remote) ofPull(ctx context.Context) ([]parkedDraft, error) {
	drafts := r.drafts(ctx, func(n handoff.Name) bool {
		return n.Number == r.ref.Number && n.Instance == r.Instance && (r.Code == "" || n.Code == r.Code)
	})
	drafts = slices.DeleteFunc(drafts, func(d parkedDraft) bool {
		return r.typed != "" && !pull.MatchThread(r.typed, d.Thread)
	})
	switch {
	case len(drafts) == 0 && r.unread != nil:
		return nil, r.unread
	case len(drafts) == 0:
		return nil, problem.Refuse(1, "no draft of "+r.ref.String()+" is parked on GitHub",
			fmt.Sprintf("%s threads %s lists what is; --instance and --code name another one", r.name,
				r.ref.FullName()))
	}
	return drafts, nil
}

// open reads a draft whole.
func (r *remote) open(ctx context.Context, d parkedDraft) (driver.Report, error) {
	p := r.protection(d.Manifest)
	if err := p.Check(); err != nil {
		return driver.Report{}, problem.Usage(fmt.Sprintf("the draft %s is protected by trust: %s, and there is no key",
			d.code, d.Trust), "set PR_REVIEW_CHECKPOINT_KEY to the checkpoint-key of its workflow")
	}
	opened, err := p.Open(d.zip)
	if err != nil {
		return driver.Report{}, err
	}
	store := graph.NewMemory()
	if err := store.Save(ctx, opened.Manifest.Thread, opened.Snapshot); err != nil {
		return driver.Report{}, err
	}
	flow, err := reviewpr.New(reviewpr.Steps{}, store, driver.Sealing(p)...)
	if err != nil {
		return driver.Report{}, err
	}
	report, err := driver.Describe(ctx, flow, opened.Manifest.Thread)
	report.Packed = opened
	return report.Named(opened.Digest), err
}

// tell says below a draft what has become of it, or how it can be decided.
func (r *remote) tell(ctx context.Context, d parkedDraft, report driver.Report) error {
	if claim, decided := r.decision(ctx, d); decided {
		fmt.Fprintf(r.Stdout, "Code %s, decided: %s by %s.\n", d.code, claim.Record.Decision,
			guard.Line(claim.Record.By, driver.MaxLine))
		return nil
	}
	now, err := r.api.Pull(ctx, r.ref)
	if err != nil {
		return err
	}
	if !now.Open() || now.HeadSHA != d.Subject.Head {
		fmt.Fprintf(r.Stdout, "Code %s, superseded: %s is at commit %.7s, %s.\n", d.code, r.ref, now.HeadSHA, now.State)
		return nil
	}
	if page := r.posted(ctx, d); page != "" {
		fmt.Fprintf(r.Stdout, "Code %s, superseded: a review of this commit stands at\n  %s\n", d.code, page)
		return nil
	}
	if err := checkpoint.CheckExpiry(d.Manifest, r.Now()); err != nil {
		return err
	}
	way := "or with GitHub's own command line"
	if d.Waits() {
		way = "or on the page of its run"
	}
	fmt.Fprintf(r.Stdout, "Code %s, until %s. Decide with\n  %s --approve\n(%s)\n%s\n  %s\n", d.code,
		d.ExpiresAt.Format("2 January 2006, 15:04 MST"), r.resuming(d), others(report), way, r.where(d))
	return nil
}
