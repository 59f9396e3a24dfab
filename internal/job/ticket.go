package job

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/apply"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/render/proposal"
	"github.com/org/pr-review-action/internal/ticket"
)

// ticketDraft is a ticket's draft as a job handles it.
type ticketDraft struct {
	*gated[ticketpr.State]
	driver.Publisher
	repo     github.Repository
	config   config.Config // of the default branch
	drafter  string        // login of the account that requested the draft
	coAuthor string        // that account as in a commit's trailer; empty if it is not a user

	// only in a job that drafts
	answered []string // keys of the approvals that the run had already
	ticket   ticket.Ticket
	show     ticket.Show // how much of the ticket leaves the job
}

// decidedTicketDraft returns the ticket's draft, with the repository and its settings.
func (j *job) decidedTicketDraft(ctx context.Context) (*ticketDraft, error) {
	p := &ticketDraft{gated: &gated[ticketpr.State]{job: j}}
	p.Publisher = driver.Publisher{Applier: apply.Applier{Read: j.api, Write: write.New(j.api)}, Request: p.request}
	var err error
	if p.repo, err = j.api.Repository(ctx, j.ref.Owner, j.ref.Repo); err != nil {
		return p, err
	}
	p.config, err = ingest.Settings(ctx, j.api, j.ref, j.File(), p.repo.DefaultBranch)
	j.warnOverruled(p.config)
	var steps ticketpr.Steps
	p.Into(&steps)
	about := checkpoint.Subject{Kind: "ticket", Repository: j.ref.FullName(), RepositoryID: p.repo.ID, Key: j.asked.Key}
	*p.gated = gated[ticketpr.State]{
		job: j, of: ticketpr.Subject(), origin: j.originOf(about, p.repo.DefaultBranch, func(base string) string {
			return ticketpr.ThreadID(j.ref, j.asked.Key, base)
		}),
		graph: ticketpr.Name, version: ticketpr.Version, prompt: implement.Fingerprint(),
		build: func(store graph.Store) (*graph.Flow[ticketpr.State], error) {
			return ticketpr.New(steps, store, driver.Sealing(j.Protection)...)
		},
		unmoved: p.checkUnmoved, author: p.dispatcher,
		standing: func(ctx context.Context, s ticketpr.State, _ string) (string, bool, error) {
			where, _, found, err := p.Stands(ctx, p.request(s))
			return where, found, err
		},
		deciders: func(ticketpr.State) []string { return p.config.Deciders },
		items:    ticketpr.State.Items, compared: asFindings,
		parent: func(ticketpr.State) string { return "" },
		report: func(ctx context.Context, o *handoff.Draft[ticketpr.State]) (driver.Report, error) {
			v, err := p.driver(o.Store, o.Manifest.Thread).Proposed(ctx)
			return p.reportOn(v), err
		},
	}
	return p, err
}

// checkUnmoved is check 9: the base must still be the one that the change was drafted on.
func (p *ticketDraft) checkUnmoved(ctx context.Context, draft checkpoint.Draft) error {
	opened, err := p.of.Open(ctx, draft, p.build)
	if err != nil {
		return err
	}
	q := p.request(opened.State)
	q.Digest = draft.Digest
	return p.Unmoved(ctx, q)
}

// dispatcher returns the account that requested a draft. Like the author of a pull request,
// it may not decide unless allow-author is set. It may ask for another draft.
func (p *ticketDraft) dispatcher(ctx context.Context, m checkpoint.Manifest) (string, error) {
	if p.Mode == "revise" {
		return "", nil
	}
	made, err := p.runs.Read(ctx, m.RunID)
	if err != nil {
		return "", handoff.NeedsActions(err, "the run that made the draft cannot be read")
	}
	member, err := p.api.Member(ctx, p.ref.Owner, p.ref.Repo, made.Actor)
	if errors.Is(err, github.ErrNotFound) { // deleted since, or an app
		err = nil
	}
	if p.drafter = made.Actor; member.ID != 0 {
		p.coAuthor = fmt.Sprintf("%s <%d+%[1]s@users.noreply.github.com>", made.Actor, member.ID)
	}
	return made.Actor, err
}

// asFindings returns a draft's files as findings, so that approvals can compare their effects.
func asFindings(s ticketpr.State) (all []finding.Finding) {
	for _, i := range s.Items() {
		all = append(all, finding.Finding{ID: i.ID, Path: i.Path})
	}
	return all
}

func (p *ticketDraft) reportOn(v driver.Proposal) driver.Report {
	r := v.Report
	if v.Digest != "" {
		r.Artifact = ticketpr.Names.Draft(p.origin.Subject, v.Digest)
	}
	if v.Outcome != ticketpr.Paused {
		r.Form, r.State.Decision = p.Form(v.State), v.State.Account(p.Summary != "counts")
		// of a link a person is the author; GITHUB_TOKEN is an app's
		r.Bot = strings.HasPrefix(p.Token, "ghs_") && p.config.Implement.PullRequest != "link"
	}
	return r
}

// request returns the request that apply carries out for a state. Before a decision it does
// not say who approved.
func (p *ticketDraft) request(s ticketpr.State) apply.Request {
	q := driver.ApplyRequest(p.ref, s, proposal.Made{Run: driver.RunPage(p.ref, s.Facts.RunID),
		Closes: ticketpr.IssueNumber(p.asked.Key), Drafted: p.drafter})
	q.Link, q.Again = p.config.Implement.PullRequest == "link", "re-run the failed jobs"
	if q.CoAuthor = p.coAuthor; s.Decision != nil {
		q.Race = p.decisions(s).Race(*s.Decision)
	}
	return q
}

func (p *ticketDraft) driver(store graph.Store, thread string) driver.Driver {
	return driver.Driver{Front: p.Front, Store: store, Thread: thread, Protect: p.Protection, Warn: p.warn,
		Tell: p.tell}
}
