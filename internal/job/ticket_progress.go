package job

import (
	"context"
	"errors"
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/implement"
)

// progress is the store of a draft under way, and what the thread has cost so far. It holds
// the draft that is revised, or what an earlier job had paid for when it was cut off. What
// is paid on the way to a first draft is carried off from time to time.
func (p *proposal) progress(ctx context.Context, facts checkpoint.Manifest,
	revised *revision) (store *artifactstore.Store, spent cost.MicroUSD) {
	if revised != nil {
		store = p.carrying(func(graph.Saved, int) (string, []byte, error) { return "", nil, handoff.ErrNotRead })
		_ = store.Memory.Save(ctx, facts.Thread, revised.from.Snapshot) // it is in memory
		return store, revised.from.State.Usage.Cost
	}
	empty := func() *artifactstore.Store {
		return p.carrying(func(saved graph.Saved, n int) (string, []byte, error) {
			packed, err := ticketpr.PackPartial(saved, n, facts, p.Protection)
			return ticketpr.Names.Partial(p.subject(), n, packed.Digest), packed.Zip, err
		})
	}
	if store = empty(); p.Anew {
		return store, 0
	}
	found := handoff.Candidates(p.checkpoints(p.left(ctx), p.subject()), p.repo.ID)
	taken := false
	p.origin.Earlier(ctx, found, func(d checkpoint.Draft, saved graph.Saved) error {
		if taken || d.Manifest.Partial == 0 || d.Manifest.Thread != facts.Thread {
			return nil
		}
		begun := empty()
		err := begun.Prime(ctx, facts.Thread, saved, 0, "")
		if err == nil {
			if spent, err = p.goesOn(ctx, begun, facts.Thread); err == nil {
				store, taken = begun, true
			}
		}
		return err
	})
	return store, spent
}

var errAnother = errors.New("it is of another draft")

// goesOn refuses what was begun with another text, other modules or another model, and what
// came to its end. It says what it has cost.
func (p *proposal) goesOn(ctx context.Context, store graph.Store, thread string) (cost.MicroUSD, error) {
	flow, err := ticketpr.New(ticketpr.Steps{}, store, driver.Sealing(p.Protection)...)
	if err != nil {
		return 0, err
	}
	view, err := flow.Inspect(ctx, thread)
	if err != nil {
		return 0, err
	}
	t, err := p.fetch(ctx)
	if err != nil {
		return 0, err
	}
	by, err := p.NewReviewer(p.Settings, nil)
	if err != nil {
		return 0, err
	}
	by.Named(p.config)
	s, only := view.State, p.Only()
	outside := len(only) > 0 && slices.ContainsFunc(s.Scope.Modules, func(m implement.Module) bool {
		return !slices.Contains(only, m.Name)
	})
	if outside || view.Status != graph.Running || s.Facts.Subject.Digest != implement.Digest(t) || s.Model != by.Model {
		return 0, errAnother
	}
	return s.Usage.Cost, nil
}
