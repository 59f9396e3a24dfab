package job

import (
	"context"
	"errors"
	"slices"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/implement"
)

// progress is the store of a draft under way, and what the thread has cost so far. It holds
// what an earlier job had paid for when it was cut off, which begun says, or the draft that
// is revised. What is paid on the way is carried off from time to time.
func (p *ticketDraft) progress(ctx context.Context, facts checkpoint.Manifest,
	revised *revision) (store *artifactstore.Store, spent cost.MicroUSD, begun bool) {
	empty := func() *artifactstore.Store {
		return p.carrying(func(saved graph.Saved, n int) (string, []byte, error) {
			packed, err := ticketpr.PackPartial(saved, n, facts, p.Protection)
			return ticketpr.Names.Partial(p.origin.Subject, n, packed.Digest), packed.Zip, err
		})
	}
	if store = empty(); revised != nil {
		_ = store.Memory.Save(ctx, facts.Thread, revised.from.Snapshot) // it is in memory
		spent = revised.from.State.Usage.Cost
	}
	if p.Anew {
		return store, spent, false
	}
	found := handoff.Candidates(p.checkpoints(p.left(ctx), p.origin.Subject), p.repo.ID)
	p.origin.Earlier(ctx, found, func(d checkpoint.Draft, saved graph.Saved) error {
		if begun || d.Manifest.Partial == 0 || d.Manifest.Thread != facts.Thread {
			return nil
		}
		earlier := empty()
		if err := earlier.Prime(ctx, facts.Thread, saved, 0, ""); err != nil {
			return err
		}
		paid, err := p.goesOn(ctx, earlier, facts.Thread, revised)
		if err == nil {
			store, spent, begun = earlier, paid, true
		}
		return err
	})
	return store, spent, begun
}

var errAnother = errors.New("it is of another draft")

// goesOn refuses what was begun with another text, other modules, another model or other
// feedback, and what came to its end. It says what it has cost.
func (p *ticketDraft) goesOn(ctx context.Context, store graph.Store, thread string,
	revised *revision) (cost.MicroUSD, error) {
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
	outside := len(only) > 0 && slices.ContainsFunc(s.Scope.Modules, func(m change.Module) bool {
		return !slices.Contains(only, m.Name)
	})
	if !revised.begins(s) || outside || view.Status != graph.Running || s.Facts.Subject.Digest != implement.Digest(t) ||
		s.Model != by.Model {
		return 0, errAnother
	}
	return s.Usage.Cost, nil
}

// begins reports whether a state is of this revision; of none, of a first draft.
func (r *revision) begins(s ticketpr.State) bool {
	if r == nil {
		return len(s.Rounds) == 0
	}
	n := len(s.Rounds)
	return n == r.from.State.Iteration+1 && s.Rounds[n-1].Digest == r.from.Digest &&
		s.Rounds[n-1].Feedback == r.answer.Record.Feedback
}

// revision is a draft that is to be drafted again, and who asks for it.
type revision struct {
	from   *handoff.Draft[ticketpr.State]
	answer decision.Answer
}
