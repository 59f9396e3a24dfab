package ticketcontext

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/ticket"
)

// One reads one ticket, by a key of a project that the settings list or as
// owner/repo#7, from the first source that has it, within Options.Limit where that is set.
// Redacted and bounded as in Fetch; what no source gives is an error that names each one's
// reason.
func One(ctx context.Context, key string, o Options) (ticket.Ticket, error) {
	if err := o.lists(key); err != nil {
		return ticket.Ticket{}, err
	}
	g := newGathering(Asked{}, o)
	defer g.close()
	within, cancel := ctx, func() {}
	if o.Limit > 0 {
		within, cancel = context.WithTimeout(ctx, o.Limit-o.Limit/10) // what is left ends connections and programs
	}
	defer cancel()
	t := g.ticket(within, key)
	if t == nil {
		var why []string
		for _, l := range g.lost {
			why = append(why, strings.TrimPrefix(l.line, "Without ticket: "))
		}
		next := "name a source that has it under context.sources, with its variables set"
		if strings.Contains(key, "#") {
			next = "look whether it is there, and whether the GitHub token may read it"
		}
		return ticket.Ticket{}, problem.As(problem.Failed, problem.New("the ticket "+key+" could not be read",
			strings.Join(why, "; "), next), "")
	}
	for i := range t.Criteria {
		t.Criteria[i].N = i + 1
	}
	return *t, ctx.Err()
}

// lists refuses a key of a project that the settings do not list.
func (o Options) lists(key string) error {
	if strings.Contains(key, "#") || slices.Contains(o.Projects, ticket.Project(key)) {
		return nil
	}
	return problem.Usage(fmt.Sprintf("the settings' context.projects do not list the project of %s", key),
		"add it there: only tickets of listed projects are read and commented on")
}
