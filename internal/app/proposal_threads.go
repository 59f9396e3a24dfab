package app

import (
	"context"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wire"
)

// proposal is the ticket's thread that an argument names: by its id, cut short at its last
// part or without it, or by the ticket's key; false where it names none.
func (a *app) proposal(ctx context.Context, args []string, o *options) (s session, ok bool, err error) {
	if len(args) != 1 {
		return s, false, nil
	}
	store, err := a.OpenStore(ctx, o.store)
	if err != nil {
		return s, false, nil // who opens it next says so
	}
	typed := strings.TrimSuffix(args[0], ":")
	ids, err := store.Threads(ctx)
	ids = slices.DeleteFunc(ids, func(id string) bool {
		about := id[:max(0, strings.LastIndexByte(id, ':'))]
		return !isProposal(id) || !matches(args[0], id) && about != typed && !strings.HasSuffix(about, "~"+typed)
	})
	if err != nil || len(ids) == 0 {
		return s, false, nil
	}
	if len(ids) > 1 {
		return s, false, severalThreads(args[0], ids)
	}
	return session{store: store, thread: ids[0]}, true, nil
}

// showProposal prints a ticket's draft of the local store.
func (a *app) showProposal(ctx context.Context, s session, o *implementOptions) error {
	p := &proposing{session: s, app: a, o: o}
	r, err := p.driver().Proposed(ctx)
	if err != nil {
		return err
	}
	if p.show(r); r.Outcome == ticketpr.Paused {
		return p.park(r)
	}
	return p.finish(ctx, r)
}

// proposals lists the tickets' drafts that wait in a store.
func (a *app) proposals(ctx context.Context, store wire.Store) (list []listed, err error) {
	ids, err := store.Threads(ctx)
	for _, id := range ids {
		if !isProposal(id) {
			continue
		}
		p := &proposing{session: session{store: store, thread: id}, app: a, o: &implementOptions{}}
		r, err := p.driver().Proposed(ctx)
		if err != nil {
			a.warn(guard.Line(id, driver.MaxLine) + ": " + driver.Explain(err))
			continue
		}
		if r.Outcome != ticketpr.Paused {
			continue
		}
		all := r.State.Proposed()
		one := listed{r.Outcome, r.Thread, r.Code, len(r.Findings), len(all), change.Lines(all)}
		if p.late(r) {
			one.Outcome = driver.Expired
		}
		list = append(list, one)
	}
	return list, err
}
