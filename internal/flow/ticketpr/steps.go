package ticketpr

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/ticketcontext"
)

// fetch reads the ticket and freezes it: its text is hashed, and shown as far as it may be.
func (steps *Steps) fetch(f fields) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (graph.Update, error) {
		t, err := steps.Fetch(ctx)
		if err != nil {
			return graph.Update{}, err
		}
		steps.full = &t
		s.Facts.Subject.Digest = implement.Digest(t)
		c := ticket.Context{Tickets: []ticket.Ticket{t}, Flags: ticketcontext.Flags(t)}.Shown(steps.Show)
		update := graph.Updates(f.facts.Set(s.Facts), f.ticket.Set(c.Tickets[0]), f.flags.Set(c.Flags))
		if t.Summary == "" && t.Description == "" && len(t.Criteria) == 0 {
			update = graph.Updates(update, f.err.Set("the ticket asks for nothing: it has no text"))
		}
		return update, nil
	}
}

// shown is as much of a ticket as may leave the job.
func shown(t ticket.Ticket, show ticket.Show) ticket.Ticket {
	return ticket.Context{Tickets: []ticket.Ticket{t}}.Shown(show).Tickets[0]
}

// ticket is the whole text, read again where another process has drafted. It is the frozen
// one, or refused.
func (steps *Steps) ticket(ctx context.Context, s State) (ticket.Ticket, error) {
	if steps.full == nil {
		t, err := steps.Fetch(ctx)
		if err != nil {
			return t, err
		}
		steps.full = &t
	}
	if implement.Digest(*steps.full) != s.Facts.Subject.Digest {
		return ticket.Ticket{}, problem.Refuse(9, "the ticket's text is another since this draft was made",
			"draft it anew with --again", problem.At(s.Ticket.Key))
	}
	return *steps.full, nil
}

func (steps *Steps) classify(f fields) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (graph.Update, error) {
		t, err := steps.ticket(ctx, s)
		if err != nil {
			return graph.Update{}, err
		}
		c, used, err := steps.Model.Classify(ctx, t)
		if err != nil {
			return failure(f, used, err)
		}
		return graph.Updates(f.class.Set(c), f.usage.Set(used)), nil
	}
}

func (steps *Steps) modules(f fields) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (graph.Update, error) {
		all := steps.allowed()
		if len(all) == 0 {
			return f.err.Set("there is no module that could be changed"), nil
		}
		t, err := steps.ticket(ctx, s)
		if err != nil {
			return graph.Update{}, err
		}
		chosen, used, err := steps.Model.Choose(ctx, t, s.Class, all, steps.Paths)
		if err != nil {
			return failure(f, used, err)
		}
		return graph.Updates(f.scope.Set(chosen), f.usage.Set(used)), nil
	}
}

// allowed are the modules among which is chosen.
func (steps *Steps) allowed() []config.Module {
	if len(steps.Only) == 0 {
		return steps.Modules
	}
	return slices.DeleteFunc(slices.Clone(steps.Modules), func(m config.Module) bool {
		return !slices.Contains(steps.Only, m.Name)
	})
}

// The most pieces that a search gives, and bytes that it asks with.
const (
	perModule = 4
	inAll     = 10
	maxQuery  = 8 << 10
)

// retrieve finds pieces of the chosen modules, the best of all first.
func (steps *Steps) retrieve(f fields) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (graph.Update, error) {
		t, err := steps.ticket(ctx, s)
		if err != nil || steps.Search == nil {
			return graph.Update{}, err
		}
		query := strings.Join([]string{t.Summary, s.Class.Summary, t.Description}, "\n")
		query = strings.ToValidUTF8(query[:min(len(query), maxQuery)], "")
		var all []implement.Chunk
		var used cost.Usage
		for _, m := range s.Scope.Chosen(steps.Modules) {
			found, err := steps.Search(ctx, query, m)
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
				if !slices.ContainsFunc(all, func(o implement.Chunk) bool {
					return o.Path == c.Path && o.StartLine == c.StartLine
				}) {
					all = append(all, c)
				}
			}
		}
		slices.SortStableFunc(all, func(a, b implement.Chunk) int { return cmp.Compare(b.Score, a.Score) })
		return graph.Updates(f.chunks.Set(all[:min(len(all), inAll)]), f.scope.Set(s.Scope), f.usage.Set(used)), nil
	}
}

// brief is what the change and its tests are written from.
func (steps *Steps) brief(ctx context.Context, s State) (b implement.Brief, base implement.Base, err error) {
	if b.Ticket, err = steps.ticket(ctx, s); err != nil {
		return b, base, err
	}
	b.Class, b.Scope, b.Chunks = s.Class, s.Scope, s.Chunks
	b.Modules = s.Scope.Chosen(steps.Modules)
	for _, r := range s.Rounds {
		b.Rounds = append(b.Rounds, r.Feedback)
	}
	if len(s.Rounds) > 0 {
		b.Before = s.Proposed()
	}
	return b, steps.Base(b.Modules), nil
}

func (steps *Steps) code(f fields) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (graph.Update, error) {
		b, base, err := steps.brief(ctx, s)
		if err != nil {
			return graph.Update{}, err
		}
		cause, files, used, err := steps.Model.Code(ctx, b, base)
		if err != nil {
			return failure(f, used, err)
		}
		return graph.Updates(f.cause.Set(cause), f.changes.Set(files), f.usage.Set(used)), nil
	}
}

func (steps *Steps) tests(f fields) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (graph.Update, error) {
		b, base, err := steps.brief(ctx, s)
		if err != nil {
			return graph.Update{}, err
		}
		files, used, err := steps.Model.Tests(ctx, b, s.Changes, base)
		if err != nil {
			return failure(f, used, err)
		}
		return graph.Updates(f.tests.Set(files), f.usage.Set(used)), nil
	}
}

// summary looks at the change before a person does: the project's own command, and the
// review flow. The draft gets the facts of the run that finishes it.
func (steps *Steps) summary(f fields) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (graph.Update, error) {
		var update graph.Update
		if steps.Revised != nil {
			update = f.facts.Set(steps.Revised(s.Facts))
		}
		if steps.Check != nil {
			said, err := steps.Check(ctx, s.Proposed())
			if err != nil {
				return graph.Update{}, err
			}
			update = graph.Updates(update, f.check.Set(said))
		}
		if steps.Review == nil {
			return graph.Updates(update, f.seen.Set(Seen{})), nil
		}
		t, err := steps.ticket(ctx, s)
		if err != nil {
			return graph.Update{}, err
		}
		seen, err := steps.Review(ctx, s, t)
		if err != nil {
			return failure(f, seen.Usage, err)
		}
		return graph.Updates(update, f.seen.Set(seen), f.usage.Set(seen.Usage)), nil
	}
}

// regenerate takes the feedback up: another draft.
func (steps *Steps) regenerate(f fields) func(context.Context, State) (graph.Update, error) {
	return func(_ context.Context, s State) (graph.Update, error) {
		if steps.Model == nil {
			return graph.Update{}, fmt.Errorf("this job has no model to revise the draft with")
		}
		return graph.Updates(f.rounds.Set([]decision.Record{*s.Decision}), f.decision.Set(nil),
			f.iteration.Set(s.Iteration+1)), nil
	}
}
