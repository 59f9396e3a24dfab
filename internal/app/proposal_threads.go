package app

import (
	"context"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wire"
)

// proposal is the ticket's thread that an argument names, by its id or by the ticket's key;
// false where it names none, or none alone.
func (a *app) proposal(ctx context.Context, args []string, o *options) (s session, ok bool) {
	if len(args) != 1 {
		return s, false
	}
	store, err := a.OpenStore(ctx, o.store)
	if err != nil {
		return s, false // who opens it next says so
	}
	ids, err := store.Threads(ctx)
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return !isProposal(id) || !matches(args[0], id) && !strings.Contains(id, "~"+args[0]+":")
	})
	if err != nil || len(ids) != 1 {
		return s, false
	}
	return session{store: store, thread: ids[0]}, true
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
		switch {
		case err != nil:
			a.warn(guard.Line(id, driver.MaxLine) + ": " + driver.Explain(err))
		case r.Outcome == ticketpr.Paused && checkpoint.CheckExpiry(r.Packed.Manifest, a.Now()) != nil:
			list = append(list, listed{driver.Expired, r.Thread, r.Code, len(r.Findings)})
		case r.Outcome == ticketpr.Paused:
			list = append(list, listed{r.Outcome, r.Thread, r.Code, len(r.Findings)})
		}
	}
	return list, err
}
