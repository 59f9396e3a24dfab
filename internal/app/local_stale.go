package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/settings"
)

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
