package driver

import (
	"context"
	"fmt"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/ticketcontext"
)

// TicketSources are where a ticket is read and commented on: GitHub for an issue, which
// needs no settings, else the sources of the settings.
func (f *Front) TicketSources(asked ticketpr.Asked, c config.Config, s settings.Settings,
	api *github.Client) (ticketcontext.Options, error) {
	o, err := f.Context(c.Context, s, api)
	switch {
	case err != nil:
	case asked.Issue() > 0:
		o.Sources = []ticketcontext.Source{ticketcontext.GitHub(api)}
	case len(o.Sources) == 0:
		err = problem.Usage(fmt.Sprintf("nothing says where %s is kept", asked.Key), "name a source under "+
			"context.sources in "+s.Config+" of the base commit, or have implement read a Markdown file in a clone")
	}
	return o, err
}

// ReadTicket reads a ticket in full, under the key that it was asked for by.
func (f *Front) ReadTicket(ctx context.Context, asked ticketpr.Asked, c config.Config, s settings.Settings,
	api *github.Client) (t ticket.Ticket, err error) {
	o, err := f.TicketSources(asked, c, s, api)
	if err == nil {
		t, err = ticketcontext.One(ctx, asked.From, o)
	}
	t.Key = asked.Key
	return t, err
}
