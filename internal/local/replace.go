package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/wire"
)

// replaced is the thread that a run replaces, locked until release is called. It stays in the
// store until the run is complete, so that a run which fails or is killed takes nothing away.
type replaced struct {
	view    graph.View[reviewpr.State]
	saved   graph.Saved
	next    successor
	release func() error
}

// giveUpStale returns the thread if this run replaces it: one that is stale, damaged or, with
// --again, any but a pull request's posted review. One that has nothing to decide and paid for
// nothing is dropped instead. A decided thread is kept and reported, an abort even if the diff
// has changed.
func (r *Run) giveUpStale(ctx context.Context) (_ *replaced, err error) {
	old := &replaced{}
	if old.release, err = r.Store.Lock(ctx, r.Thread); err != nil {
		return nil, err
	}
	replaces := false
	defer func() {
		if !replaces {
			err = errors.Join(err, old.release())
		}
	}()
	done, err := finishReplacement(ctx, r.Store, r.Thread)
	if err != nil {
		return nil, err
	}
	flow, err := reviewpr.New(reviewpr.Steps{}, r.Store)
	if err != nil {
		return nil, err
	}
	old.view, err = flow.Inspect(ctx, r.Thread)
	if errors.Is(err, graph.ErrNoThread) {
		return nil, nil
	}
	if err := r.readFiles(ctx); err != nil { // they are compared with those of the thread
		return nil, err
	}
	if r.Anew && isSuccessorFor(done, r.purpose()) {
		return nil, nil
	}
	damaged := isUseless(err)
	if err != nil && !(damaged && r.Anew) {
		return nil, err // it may contain a decision, so only a person may give it up
	}
	view := old.view
	stale := r.isStale(view)
	if r.Anew {
		stale = view.End != reviewpr.Posted || view.State.Pull == nil
	}
	if err == nil && !stale && reviewpr.Intact(view) == nil {
		return nil, nil
	}
	if old.saved, err = r.Store.Load(ctx, r.Thread); err != nil && !damaged {
		return nil, err
	}
	if err == nil && (r.Anew || view.State.Draft.Subject.Digest == r.change.Digest()) {
		r.usedIDs = reviewpr.UsedIDs(old.saved.Snapshot)
	}
	unread := !damaged && view.State.Draft.Subject.Digest == "" // nothing is paid for before the change is read
	if err != nil || unread || view.End == reviewpr.Skipped || view.End == reviewpr.Failed {
		return nil, r.Store.Remove(ctx, r.Thread)
	}
	old.next, err = r.successor(ctx, old.saved)
	replaces = err == nil
	return old, err
}

// isUseless reports whether an error says that nothing is stored of a thread, or that it is damaged, of another
// version, or not what was shown: another attempt to read it would find the same.
func isUseless(err error) bool {
	return errors.Is(err, graph.ErrNoThread) || errors.Is(err, graph.ErrSnapshot) ||
		errors.As(err, new(*graph.VersionError)) || problem.Check(err) > 0
}

// What begins the last part of a replacing run's id: the rest are hashes of what it replaces
// and of its purpose.
const (
	kindNext  = "next-"
	kindAgain = "again-"
)

// successorPrefix returns the beginning of the id of a run that replaces what is stored of the thread. A
// run with --again takes over nothing from one without it.
func successorPrefix(thread string, anew bool, saved graph.Saved) string {
	kind := kindNext
	if anew {
		kind = kindAgain
	}
	all := slices.Concat(saved.Snapshot, slices.Concat(saved.Journal...))
	return fmt.Sprintf("%s%s%s%.12s-", thread, aside, kind, checkpoint.Digest(all))
}

// successor returns the store of the run that replaces a thread, with what an earlier process
// left of that run, if it can continue.
func (r *Run) successor(ctx context.Context, old graph.Saved) (successor, error) {
	next := successor{Store: r.Store, thread: r.Thread,
		apart: successorPrefix(r.Thread, r.Anew, old) + r.purpose()[:12]}
	flow, err := reviewpr.New(reviewpr.Steps{}, next)
	if err != nil {
		return next, err
	}
	view, err := flow.Inspect(ctx, r.Thread)
	if err != nil && !isUseless(err) || err == nil && !r.isStale(view) && reviewpr.Intact(view) == nil {
		return next, err
	}
	return next, next.Remove(ctx, r.Thread)
}

// replaceThread puts the complete run in place of the old thread. Unless --again was given, it sets
// aside what the old one paid for, because that reviewer may be used again.
func (r *Run) replaceThread(ctx context.Context, old replaced) error {
	if d := old.view.State.Draft; !r.Anew && !d.Rules && d.For != "" {
		if err := storeThread(ctx, r.Store, fmt.Sprintf("%s%s%.12s", r.Thread, aside, d.For), old.saved); err != nil {
			return err
		}
	}
	return old.next.replaceThread(ctx)
}

// finishReplacement completes a replacement that a process which was killed left undone: a copy that was
// cut off, or one whose original was not removed. It returns the id of that original, or "". The
// caller holds the thread's lock.
func finishReplacement(ctx context.Context, store wire.Store, thread string) (string, error) {
	now, unread := store.Load(ctx, thread)
	ids, err := store.Threads(ctx)
	for _, id := range ids {
		kind, apart := strings.CutPrefix(id, thread+aside)
		if unread != nil || !apart || !strings.HasPrefix(kind, kindNext) && !strings.HasPrefix(kind, kindAgain) {
			continue
		}
		left, err := store.Load(ctx, id)
		if n := len(now.Journal); err == nil && bytes.Equal(left.Snapshot, now.Snapshot) && n <= len(left.Journal) &&
			slices.EqualFunc(left.Journal[:n], now.Journal, bytes.Equal) {
			return id, successor{store, thread, id}.replaceThread(ctx)
		}
	}
	return "", err
}

// isSuccessorFor reports whether the id of a run that replaced a thread is that of one with --again for
// a purpose.
func isSuccessorFor(id, purpose string) bool {
	return strings.Contains(id, aside+kindAgain) && strings.HasSuffix(id, "-"+purpose[:12])
}

// successor is a store that keeps one thread under another id, apart, which no list shows.
type successor struct {
	wire.Store
	thread, apart string
}

// replaceThread puts the complete run in the thread's place.
func (s successor) replaceThread(ctx context.Context) error {
	saved, err := s.Load(ctx, s.thread)
	if err == nil {
		err = storeThread(ctx, s.Store, s.thread, saved)
	}
	if err != nil {
		return err
	}
	return s.Remove(ctx, s.thread)
}

// stillWaits says of a run that did not replace a draft that nothing is lost.
const stillWaits = "the draft from before still waits: "

func (s successor) id(thread string) string {
	if thread == s.thread {
		return s.apart
	}
	return thread
}

// Load, Save, Append, Lock and Remove do what those of the store do.
func (s successor) Load(ctx context.Context, thread string) (graph.Saved, error) {
	return s.Store.Load(ctx, s.id(thread))
}

func (s successor) Save(ctx context.Context, thread string, snapshot ...[]byte) error {
	return s.Store.Save(ctx, s.id(thread), snapshot...)
}

func (s successor) Append(ctx context.Context, thread string, record ...[]byte) error {
	return s.Store.Append(ctx, s.id(thread), record...)
}

func (s successor) Lock(ctx context.Context, thread string) (release func() error, err error) {
	return s.Store.Lock(ctx, s.id(thread))
}

func (s successor) Remove(ctx context.Context, thread string) error {
	return s.Store.Remove(ctx, s.id(thread))
}

// storeThread stores a thread's data under an id.
func storeThread(ctx context.Context, store graph.Store, id string, saved graph.Saved) error {
	if err := store.Save(ctx, id, saved.Snapshot); err != nil {
		return err
	}
	for _, record := range saved.Journal {
		if err := store.Append(ctx, id, record); err != nil {
			return err
		}
	}
	return nil
}
