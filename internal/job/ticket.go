package job

import (
	"cmp"
	"context"
	"fmt"

	"github.com/org/pr-review-action/internal/apply"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
)

// ticketed reports whether the job is about a ticket, and no pull request.
func (j *job) ticketed() bool { return j.Ticket != "" || j.Mode == "implement" || j.Mode == "comment" }

// The workflow files of tickets, where none are named.
const (
	implementWorkflow = ".github/workflows/pr-implement.yml"
	applyWorkflow     = ".github/workflows/pr-implement-decide.yml"
)

// setTicket reads which ticket the job is about, and takes the workflow files of tickets.
func (j *job) setTicket() (err error) {
	if j.Ticket == "" {
		return problem.Usage("the input ticket is missing", "name a key such as PAY-88, or an issue such as #7")
	}
	if j.PullRequest != 0 {
		return problem.Usage(fmt.Sprintf("the inputs name the ticket %.60q and the pull request #%d", j.Ticket,
			j.PullRequest), "name a ticket's draft by ticket and code, without pull-request and draft")
	}
	if j.asked, err = ticketpr.ParseTicket(j.Ticket, j.ref); err != nil {
		return err
	}
	for file, of := range map[*string][2]string{
		&j.DraftWorkflow:  {".github/workflows/pr-review.yml", implementWorkflow},
		&j.DecideWorkflow: {".github/workflows/pr-review-decide.yml", applyWorkflow},
	} {
		if *file == of[0] {
			*file = of[1]
		}
	}
	return nil
}

// proposal is a ticket's draft, as a job deals with it.
type proposal struct {
	*gated[ticketpr.State]
	driver.Carrier
	repo    github.Repository
	config  config.Config // of the default branch
	drafter account       // who asked for the draft
}

// proposal reads the repository and its settings.
func (j *job) proposal(ctx context.Context) (*proposal, error) {
	p := &proposal{gated: &gated[ticketpr.State]{job: j}}
	p.Carrier = driver.Carrier{Applier: apply.Applier{Read: j.api, Write: write.New(j.api)}, Request: p.request}
	var err error
	if p.repo, err = j.api.Repository(ctx, j.ref.Owner, j.ref.Repo); err != nil {
		return nil, err
	}
	p.config, err = ingest.Settings(ctx, j.api, j.ref, j.File(), p.repo.DefaultBranch)
	j.overruled(p.config)
	var steps ticketpr.Steps
	p.Into(&steps)
	*p.gated = gated[ticketpr.State]{
		job: j, of: ticketpr.Subject(), origin: p.origins(), graph: ticketpr.Name,
		version: ticketpr.Version, prompt: implement.Fingerprint(),
		build: func(store graph.Store) (*graph.Flow[ticketpr.State], error) {
			return ticketpr.New(steps, store, driver.Sealing(j.Protection)...)
		},
		unmoved: p.unmoved, standing: p.stands, author: p.dispatcher,
		deciders: func(ticketpr.State) []string { return p.config.Deciders },
		items:    ticketpr.State.Items, compared: asFindings,
		parent: func(ticketpr.State) string { return "" }, report: p.ended,
	}
	return p, err
}

// stands finds what was done on a draft's thread.
func (p *proposal) stands(s ticketpr.State) func(context.Context, string) (string, bool, error) {
	return func(ctx context.Context, _ string) (string, bool, error) {
		where, _, found, err := p.Stands(ctx, p.request(s))
		return where, found, err
	}
}

// subject is what the drafts are about, at no commit.
func (p *proposal) subject() checkpoint.Subject {
	return checkpoint.Subject{Kind: "ticket", Repository: p.ref.FullName(), RepositoryID: p.repo.ID, Key: p.asked.Key}
}

// origins is where drafts of the ticket must come from.
func (p *proposal) origins() handoff.Origin {
	return handoff.Origin{
		Names: ticketpr.Names, Subject: p.subject(),
		Thread:   func(base string) string { return ticketpr.ThreadID(p.ref, p.asked.Key, base) },
		Workflow: cmp.Or(workflowFile(p.env.WorkflowRef), p.DraftWorkflow), Branch: p.repo.DefaultBranch,
		Run: p.env.RunID, RunFacts: p.runs.Facts(p.repo.DefaultBranch), Protection: p.Protection, Now: p.Now(),
	}
}

// unmoved is check 9: the base is the one that the change was drafted on. Where the
// commit stands already, by a run that did not get any further, it may have moved since.
func (p *proposal) unmoved(ctx context.Context, draft checkpoint.Draft) error {
	opened, err := p.of.Open(ctx, draft, p.build)
	if err != nil {
		return err
	}
	q := p.request(opened.State)
	q.Digest = draft.Digest
	moved := p.Unmoved(ctx, q)
	if problem.Check(moved) == 0 {
		return moved
	}
	if _, own, _, err := p.Stands(ctx, q); err != nil || own {
		return err
	}
	return moved
}
