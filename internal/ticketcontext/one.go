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
// owner/repo#7, from the first source that has it. Redacted and bounded as in Fetch; what
// no source gives is an error that names each one's reason.
func One(ctx context.Context, key string, o Options) (ticket.Ticket, error) {
	if !strings.Contains(key, "#") && !slices.Contains(o.Projects, ticket.Project(key)) {
		return ticket.Ticket{}, problem.Usage(
			fmt.Sprintf("the settings' context.projects do not list the project of %s", key),
			"add it there: only tickets of listed projects are read")
	}
	g := newGathering(Asked{}, o)
	defer g.close()
	t := g.ticket(ctx, key)
	if t == nil {
		var why []string
		for _, l := range g.lost {
			why = append(why, strings.TrimPrefix(l.line, "Without ticket: "))
		}
		return ticket.Ticket{}, problem.As(problem.Failed, problem.New("the ticket "+key+" could not be read",
			strings.Join(why, "; "), "name a source that has it under context.sources, with its variables set"), "")
	}
	for i := range t.Criteria {
		t.Criteria[i].N = i + 1
	}
	return *t, ctx.Err()
}
