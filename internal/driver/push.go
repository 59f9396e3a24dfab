package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/apply"
	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render/proposal"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/ticketcontext"
)

// Publisher carries out approved changes on GitHub: a branch, a commit and a pull request, each
// of them once.
type Publisher struct {
	apply.Applier
	Request func(ticketpr.State) apply.Request // converts a state for package apply
}

// CommitTo returns a step that commits a state's approved files to a clone's branch, in one commit on
// base.
func CommitTo(base ingest.Base) func(context.Context, ticketpr.State) (apply.Applied, error) {
	return func(ctx context.Context, s ticketpr.State) (apply.Applied, error) {
		headline, body := proposal.CommitMessage(s.Proposal())
		branch, commit, err := base.Write(ctx, s.BranchName(), headline+"\n\n"+body, s.Kept().Proposed())
		return apply.Applied{Branch: branch, Commit: commit}, err
	}
}

// Into sets the steps that carry out the change.
func (c Publisher) Into(steps *ticketpr.Steps) {
	steps.Apply = func(ctx context.Context, s ticketpr.State) (apply.Applied, error) {
		return c.Commit(ctx, c.Request(s))
	}
	steps.Open = func(ctx context.Context, s ticketpr.State) (string, error) {
		return c.Open(ctx, c.Request(s), s.Applied)
	}
}

// Form returns the URL of the filled-in pull request form if a person is still to open the pull
// request, otherwise "".
func (c Publisher) Form(s ticketpr.State) string {
	q := c.Request(s)
	if s.Applied.Commit == "" || s.PullRequest != apply.FormAddress(q, s.Applied) {
		return ""
	}
	return apply.Form(q, s.Applied)
}

// Done returns a report on what was made of a state's ticket on its base before, if it was: a pull
// request, or a branch whose pull request was refused or is a person's to open. The state needs no
// draft.
func (c Publisher) Done(ctx context.Context, s ticketpr.State) (r Report, found bool, err error) {
	q := c.Request(s)
	o, found, err := apply.Earlier(ctx, c.Read, q.Ref, "", q.Thread)
	r = Report{Outcome: ticketpr.Posted, Thread: q.Thread, Branch: o.Branch, PullRequest: o.URL,
		Message: "this ticket was carried out on this commit before"}
	if found || err != nil {
		return r, found, err
	}
	for _, kind := range []string{change.Bug, change.Story} { // each has its own branch name
		s.Class.Type = kind
		q := c.Request(s)
		if r.Branch, _, found, err = c.Stands(ctx, q); found || err != nil {
			r.Message += ", on branch " + r.Branch + "; its pull request can be opened at " +
				apply.FormAddress(q, apply.Applied{Branch: r.Branch})
			break
		}
	}
	return r, found, err
}

// Push is a Publisher that uses the caller's own token.
type Push struct {
	Publisher
	ref pull.Ref
}

// NewPush checks, before anything is paid for, whether a change for a ticket on a base
// can be pushed to a repository. again is the command that continues with it.
func (f *Front) NewPush(ctx context.Context, ref pull.Ref, s settings.Settings, b ingest.Base, t ticket.Ticket,
	again string) (*Push, error) {
	api, err := f.GitHub(ref, s)
	if err != nil {
		return nil, err
	}
	if known, may, err := api.CanPush(ctx, ref.Owner, ref.Repo); err != nil || known && !may {
		if err == nil {
			err = problem.Usage("--push needs a token that may write to "+ref.FullName(),
				"GITHUB_TOKEN=$(gh auth token), of an account that may")
		}
		return nil, err
	}
	repo, err := api.Repository(ctx, ref.Owner, ref.Repo)
	if err != nil {
		return nil, err
	}
	issue := ticketpr.IssueNumber(t.Key)
	if issue > 0 && !strings.EqualFold(t.URL, IssuePage(ref, issue)) {
		return nil, problem.Usage(fmt.Sprintf("%s is not an issue of %s", guard.Line(t.URL, MaxLine), ref.FullName()),
			"--push takes an issue of the repository that it pushes to, a tracker's key or a Markdown file")
	}
	show, err := TicketShow(ctx, api, ref, b.Config.Context, t.Key, repo.Private)
	if err != nil {
		return nil, err
	}
	return &Push{ref: ref, Publisher: Publisher{Applier: apply.Applier{Read: api, Write: write.New(api)},
		Request: func(s ticketpr.State) apply.Request {
			q := ApplyRequest(ref, s.Under(show), proposal.Made{Closes: issue})
			q.Link, q.Again = b.Config.Implement.PullRequest == "link", again
			return q
		}}}, nil
}

// MayReveal refuses a tracker's ticket that a change in a public repository would reveal. A
// repository that cannot be read counts as private.
func (f *Front) MayReveal(ctx context.Context, ref pull.Ref, s settings.Settings, c config.Context, key string) error {
	api, err := f.GitHub(ref, s)
	if err != nil {
		return nil
	}
	if repo, err := api.Repository(ctx, ref.Owner, ref.Repo); err == nil {
		_, err = TicketShow(ctx, api, ref, c, key, repo.Private)
		return err
	}
	return nil
}

// MayDraft refuses a draft that could not be pushed, before anything is paid for: on a base that is not the tip
// of its branch on GitHub or has more files than GitHub lists, or of a ticket that was carried out on it.
func (p *Push) MayDraft(ctx context.Context, b ingest.Base, t ticket.Ticket) error {
	if b.Branch == "" {
		return problem.Usage("--push needs a branch that the pull request goes to, and HEAD is on none",
			"name one: --base main")
	}
	tip, err := p.Read.Tip(ctx, p.ref.Owner, p.ref.Repo, b.Branch)
	if err != nil && !errors.Is(err, github.ErrNotFound) {
		return err
	}
	if tip.SHA != b.Commit {
		return problem.Usage(fmt.Sprintf("%s is at %.7s here and not on %s", guard.Line(b.Branch, MaxLine), b.Commit,
			p.ref.FullName()), "bring both to one commit: git pull, or git push")
	}
	_, err = p.Read.AllEntries(ctx, p.ref.Owner, p.ref.Repo, b.Commit)
	if errors.Is(err, github.ErrTooLarge) {
		err = problem.As(problem.Misuse, err, "leave out --push, which commits to the clone, and push that branch")
	}
	if err != nil {
		return err
	}
	s := ticketpr.State{Into: b.Branch, Draft: change.Draft{Ticket: t}}
	s.Facts.Subject.Head = b.Commit
	done, found, err := p.Done(ctx, s)
	if found {
		return apply.AlreadyApplied(cmp.Or(done.PullRequest, done.Branch))
	}
	return err
}

// TicketShow returns how much of a ticket may reach GitHub. In a public repository it accepts
// issues whose author may write to it. Any other ticket would be revealed there by the
// change, so the settings must allow it.
func TicketShow(ctx context.Context, api *github.Client, ref pull.Ref, c config.Context, key string,
	private bool) (ticket.Show, error) {
	ref.Number = ticketpr.IssueNumber(key)
	switch {
	case ref.Number > 0 && private:
		return cmp.Or(c.Show, ticket.ShowCriteria), nil // the repository already contains it
	case ref.Number > 0:
		return cmp.Or(c.Show, ticket.ShowCriteria), writtenByMember(ctx, api, ref)
	case !private && c.Show != ticket.ShowCriteria && c.Show != ticket.ShowFull:
		return "", problem.Usage("on a public repository branch, title and diff would reveal what "+key+" says",
			"take an issue of the repository, or set context.show: criteria or full in the settings")
	}
	return c.Shows(private), nil
}

// writtenByMember refuses an issue whose author may not write to its repository, because
// anyone may open an issue in a public one.
func writtenByMember(ctx context.Context, api *github.Client, ref pull.Ref) error {
	issue, err := api.Issue(ctx, ref.Owner, ref.Repo, ref.Number)
	if err != nil {
		return err
	}
	level, err := api.Permission(ctx, ref.Owner, ref.Repo, issue.User)
	if err != nil && !errors.Is(err, github.ErrNotFound) {
		return err
	}
	if github.MayWrite(level) {
		return nil
	}
	return problem.Refuse(12, fmt.Sprintf("the author of %s may not write here, and anybody may open an issue of a "+
		"public repository", ref), "let somebody who may write open an issue that says what is to be done",
		problem.At("author "+guard.Line(issue.User, 100)))
}

// ApplyRequest returns a draft's change as apply takes it; before a decision it names no approver.
func ApplyRequest(ref pull.Ref, s ticketpr.State, made proposal.Made) apply.Request {
	q := apply.Request{Ref: ref, Base: s.Facts.Subject.Head, Into: s.Into, Branch: s.BranchName(),
		Files: s.Kept().Proposed(), Thread: ticketpr.ThreadID(ref, s.Ticket.Key, s.Facts.Subject.Head)}
	if made.Record = s.Decision; made.Record != nil {
		q.Digest = made.Record.Digest
	}
	approved := s.Proposal()
	q.Headline, q.Body = proposal.CommitMessage(approved)
	q.Title, q.Text = proposal.PullRequest(approved, made)
	return q
}

// IssuePage returns the URL of an issue.
func IssuePage(ref pull.Ref, number int) string {
	return fmt.Sprintf("%s/issues/%d", ref.Web(), number)
}

// Carry pushes an approved change that was committed elsewhere or interrupted. It reuses
// what already exists.
func (p *Push) Carry(ctx context.Context, r Proposal) (_ Proposal, err error) {
	if r.State.Applied, err = p.Commit(ctx, p.Request(r.State)); err == nil {
		r.State.PullRequest, err = p.Open(ctx, p.Request(r.State), r.State.Applied)
	}
	r.Branch, r.PullRequest = r.State.Applied.Branch, r.State.PullRequest
	return r, err
}

// TicketSources returns where a ticket is read and commented on: GitHub for an issue,
// which needs no settings, otherwise the sources in the settings.
func (f *Front) TicketSources(asked ticketpr.Asked, c config.Config, s settings.Settings,
	api *github.Client) (ticketcontext.Options, error) {
	o, err := f.Context(c.Context, s, api)
	switch {
	case err != nil:
	case ticketpr.IssueNumber(asked.Key) > 0:
		o.Sources = []ticketcontext.Source{ticketcontext.GitHub(api)}
	case len(o.Sources) == 0:
		err = problem.Usage(fmt.Sprintf("nothing says where %s is kept", asked.Key), "name a source under "+
			"context.sources in "+s.Config+" of the base commit, or have implement read a Markdown file in a clone")
	}
	return o, err
}

// ReadTicket reads a ticket in full. Its key is the one it was requested by.
func (f *Front) ReadTicket(ctx context.Context, asked ticketpr.Asked, c config.Config, s settings.Settings,
	api *github.Client) (t ticket.Ticket, err error) {
	o, err := f.TicketSources(asked, c, s, api)
	if err == nil {
		t, err = ticketcontext.FetchTicket(ctx, asked.From, o)
	}
	t.Key = asked.Key
	return t, err
}
