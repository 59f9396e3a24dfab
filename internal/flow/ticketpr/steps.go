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
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/ticketcontext"
)

// fetch freezes the ticket: it stores its digest, and as much of its text as may be shown.
func (r *run) fetch(_ context.Context, s *State) (paid cost.Usage, err error) {
	t := r.Ticket
	s.Facts.Subject.Digest = implement.Digest(t)
	c := ticket.Context{Tickets: []ticket.Ticket{t}, Flags: ticketcontext.Flags(t)}.Shown(r.Show)
	s.Ticket, s.Flags = c.Tickets[0], c.Flags
	if t.Summary == "" && t.Description == "" && len(t.Criteria) == 0 {
		s.Error = "the ticket asks for nothing: it has no text"
	}
	return paid, nil
}

// withTicket returns a step that needs the whole ticket, which a later process reads again. It
// refuses a ticket that differs from the frozen one.
func (r *run) withTicket(do func(context.Context, *State, ticket.Ticket) (cost.Usage, error)) step {
	return func(ctx context.Context, s *State) (paid cost.Usage, err error) {
		if implement.Digest(r.Ticket) != s.Facts.Subject.Digest {
			return paid, problem.Refuse(9, "the ticket's text has changed since this draft was made",
				"draft the ticket again", problem.At(s.Ticket.Key))
		}
		return do(ctx, s, r.Ticket)
	}
}

func (r *run) classify(ctx context.Context, s *State, t ticket.Ticket) (paid cost.Usage, err error) {
	s.Class, paid, err = r.Model.Classify(ctx, t)
	return paid, err
}

func (r *run) chooseModules(ctx context.Context, s *State, t ticket.Ticket) (paid cost.Usage, err error) {
	if len(r.Base.Rules.Modules) == 0 {
		s.Error = "there is no module that can be changed"
		return paid, nil
	}
	s.Scope, paid, err = r.Model.Choose(ctx, t, s.Class, r.Base)
	return paid, err
}

// The limits on pieces that are kept, and on the query, in bytes.
const (
	perModule = 4
	inAll     = 10
	maxQuery  = 8 << 10
)

// retrieve searches each chosen module and keeps the best pieces, best first.
func (r *run) retrieve(ctx context.Context, s *State, t ticket.Ticket) (paid cost.Usage, err error) {
	query := guard.CutBytes(strings.Join([]string{t.Summary, s.Class.Summary, t.Description}, "\n"), maxQuery)
	var all []change.Chunk
	for _, m := range r.Base.Within(s.Scope).Rules.Modules {
		found, err := r.Search(ctx, query, m)
		if err != nil {
			return paid, fmt.Errorf("searching %s: %w", m.Name, err)
		}
		paid = cost.Add(paid, found.Usage)
		s.Scope.Notes = order.Distinct(slices.Concat(s.Scope.Notes, found.Notes))
		all = append(all, found.Chunks[:min(len(found.Chunks), perModule)]...)
	}
	all = order.Unique(all, func(c change.Chunk) string { return fmt.Sprintf("%s:%d", c.Path, c.StartLine) })
	order.Stable(all, func(a, b change.Chunk) int { return cmp.Compare(b.Score, a.Score) })
	s.Chunks = all[:min(len(all), inAll)]
	return paid, nil
}

func (r *run) brief(s State, t ticket.Ticket) implement.Brief {
	b := implement.Brief{Ticket: t, Draft: s.Draft, Base: r.Base.Within(s.Scope)}
	for _, round := range s.Rounds {
		b.Rounds = append(b.Rounds, round.Feedback)
	}
	return b
}

func (r *run) writeCode(ctx context.Context, s *State, t ticket.Ticket) (paid cost.Usage, err error) {
	s.RootCause, s.Changes, paid, err = r.Model.Code(ctx, r.brief(*s, t))
	return paid, err
}

func (r *run) writeTests(ctx context.Context, s *State, t ticket.Ticket) (paid cost.Usage, err error) {
	s.Tests, paid, err = r.Model.Tests(ctx, r.brief(*s, t))
	return paid, err
}

// summarize runs the project's own command and the review flow on the change, before a person
// sees it. The draft gets the facts of the run that finishes it, and keeps only as much of the
// ticket's and the model's words as may leave the job.
func (r *run) summarize(ctx context.Context, s *State, t ticket.Ticket) (paid cost.Usage, err error) {
	if digest := s.Facts.Subject.Digest; r.Facts.Thread != "" {
		s.Facts = r.Facts
		s.Facts.Subject.Digest = digest
	}
	if s.Check = nil; r.Check != nil {
		s.Check, err = r.Check(ctx, s.Proposed())
	}
	if s.Seen = (Seen{}); err == nil {
		s.Seen, err = r.Review(ctx, *s, t)
	}
	*s = s.Under(r.Show)
	return s.Seen.Usage, err
}

func (r *run) regenerate(_ context.Context, s *State) (paid cost.Usage, err error) {
	s.Rounds = []decision.Record{*s.Decision} // the field's reducer appends it to earlier ones
	s.Decision, s.Iteration = nil, s.Iteration+1
	return paid, nil
}
