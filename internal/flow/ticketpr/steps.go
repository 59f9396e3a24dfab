package ticketpr

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/ticketcontext"
)

// fetch reads the ticket and freezes it: its text is hashed, and shown as far as it may be.
func (r *run) fetch(ctx context.Context, s State) (graph.Update, error) {
	t, err := r.Fetch(ctx)
	if err != nil {
		return graph.Update{}, err
	}
	r.whole = &t
	s.Facts.Subject.Digest = implement.Digest(t)
	c := ticket.Context{Tickets: []ticket.Ticket{t}, Flags: ticketcontext.Flags(t)}.Shown(r.Show)
	update := graph.Updates(r.facts.Set(s.Facts), r.ticket.Set(c.Tickets[0]), r.flags.Set(c.Flags))
	if t.Summary == "" && t.Description == "" && len(t.Criteria) == 0 {
		update = graph.Updates(update, r.err.Set("the ticket asks for nothing: it has no text"))
	}
	return update, nil
}

// shown is as much of a ticket as may leave the job.
func shown(t ticket.Ticket, show ticket.Show) ticket.Ticket {
	return ticket.Context{Tickets: []ticket.Ticket{t}}.Shown(show).Tickets[0]
}

// asked is the whole ticket, read again where another process has drafted. It is the frozen
// one, or refused.
func (r *run) asked(ctx context.Context, s State) (ticket.Ticket, error) {
	if r.whole == nil {
		t, err := r.Fetch(ctx)
		if err != nil {
			return t, err
		}
		r.whole = &t
	}
	if implement.Digest(*r.whole) != s.Facts.Subject.Digest {
		return ticket.Ticket{}, problem.Refuse(9, "the ticket's text is another since this draft was made",
			"draft it anew with --again", problem.At(s.Ticket.Key))
	}
	return *r.whole, nil
}

func (r *run) classify(ctx context.Context, s State) (graph.Update, error) {
	t, err := r.asked(ctx, s)
	if err != nil {
		return graph.Update{}, err
	}
	c, used, err := r.Model.Classify(ctx, t)
	if err != nil {
		return r.failure(used, err)
	}
	return graph.Updates(r.class.Set(c), r.usage.Set(used)), nil
}

func (r *run) modules(ctx context.Context, s State) (graph.Update, error) {
	if len(r.Modules) == 0 {
		return r.err.Set("there is no module that could be changed"), nil
	}
	t, err := r.asked(ctx, s)
	if err != nil {
		return graph.Update{}, err
	}
	chosen, used, err := r.Model.Choose(ctx, t, s.Class, r.Modules, r.Paths)
	if err != nil {
		return r.failure(used, err)
	}
	return graph.Updates(r.scope.Set(chosen), r.usage.Set(used)), nil
}

// The most pieces that a search gives, and bytes that it asks with.
const (
	perModule = 4
	inAll     = 10
	maxQuery  = 8 << 10
)

// retrieve finds pieces of the chosen modules, the best of all first.
func (r *run) retrieve(ctx context.Context, s State) (graph.Update, error) {
	t, err := r.asked(ctx, s)
	if err != nil || r.Search == nil {
		return graph.Update{}, err
	}
	query := strings.Join([]string{t.Summary, s.Class.Summary, t.Description}, "\n")
	query = strings.ToValidUTF8(query[:min(len(query), maxQuery)], "")
	var all []change.Chunk
	var used cost.Usage
	for _, m := range s.Scope.Chosen(r.Modules) {
		found, err := r.Search(ctx, query, m)
		if err != nil {
			return graph.Update{}, fmt.Errorf("searching %s: %w", m.Name, err)
		}
		used = cost.Add(used, found.Usage)
		for _, note := range found.Notes {
			if !slices.Contains(s.Scope.Notes, note) {
				s.Scope.Notes = append(slices.Clip(s.Scope.Notes), note)
			}
		}
		for _, c := range found.Chunks[:min(len(found.Chunks), perModule)] {
			if !slices.ContainsFunc(all, func(o change.Chunk) bool {
				return o.Path == c.Path && o.StartLine == c.StartLine
			}) {
				all = append(all, c)
			}
		}
	}
	order.Stable(all, func(a, b change.Chunk) int { return cmp.Compare(b.Score, a.Score) })
	return graph.Updates(r.chunks.Set(all[:min(len(all), inAll)]), r.scope.Set(s.Scope), r.usage.Set(used)), nil
}

// brief is what the change and its tests are written from.
func (r *run) brief(ctx context.Context, s State) (b implement.Brief, base implement.Base, err error) {
	if b.Ticket, err = r.asked(ctx, s); err != nil {
		return b, base, err
	}
	b.Class, b.Scope, b.Chunks = s.Class, s.Scope, s.Chunks
	b.Modules = s.Scope.Chosen(r.Modules)
	for _, round := range s.Rounds {
		b.Rounds = append(b.Rounds, round.Feedback)
	}
	if len(s.Rounds) > 0 {
		b.Before = s.Proposed()
	}
	return b, r.Base(b.Modules), nil
}

func (r *run) code(ctx context.Context, s State) (graph.Update, error) {
	b, base, err := r.brief(ctx, s)
	if err != nil {
		return graph.Update{}, err
	}
	cause, files, used, err := r.Model.Code(ctx, b, base)
	if err != nil {
		return r.failure(used, err)
	}
	return graph.Updates(r.cause.Set(cause), r.changes.Set(files), r.usage.Set(used)), nil
}

func (r *run) writeTests(ctx context.Context, s State) (graph.Update, error) {
	b, base, err := r.brief(ctx, s)
	if err != nil {
		return graph.Update{}, err
	}
	files, used, err := r.Model.Tests(ctx, b, s.Changes, base)
	if err != nil {
		return r.failure(used, err)
	}
	return graph.Updates(r.tests.Set(files), r.usage.Set(used)), nil
}

// summary looks at the change before a person does: the project's own command, and the
// review flow. The draft gets the facts of the run that finishes it.
func (r *run) summary(ctx context.Context, s State) (graph.Update, error) {
	var update graph.Update
	if r.Revised != nil {
		update = r.facts.Set(r.Revised(s.Facts))
	}
	if r.Check != nil {
		said, err := r.Check(ctx, s.Proposed())
		if err != nil {
			return graph.Update{}, err
		}
		update = graph.Updates(update, r.check.Set(said))
	}
	if r.Review == nil {
		return graph.Updates(update, r.seen.Set(Seen{})), nil
	}
	t, err := r.asked(ctx, s)
	if err != nil {
		return graph.Update{}, err
	}
	seen, err := r.Review(ctx, s, t)
	if err != nil {
		return r.failure(seen.Usage, err)
	}
	return graph.Updates(update, r.seen.Set(seen), r.usage.Set(seen.Usage)), nil
}

// regenerate takes the feedback up: another draft.
func (r *run) regenerate(_ context.Context, s State) (graph.Update, error) {
	if r.Model == nil {
		return graph.Update{}, fmt.Errorf("this job has no model to revise the draft with")
	}
	return graph.Updates(r.rounds.Set([]decision.Record{*s.Decision}), r.decision.Set(nil),
		r.iteration.Set(s.Iteration+1)), nil
}
