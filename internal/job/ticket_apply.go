package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/apply"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/secret"
)

// applies is the deciding job of a ticket's draft: it finds it, proves that it is the one
// that was shown, takes the decision, puts it on record and carries it out.
func (j *job) applies(ctx context.Context) (driver.Report, error) {
	if err := j.checkRoute(); err != nil {
		return driver.Report{}, err
	}
	p, draft, err := j.proposed(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	if p.drafter, err = p.dispatcher(ctx, draft.Manifest.RunID); err != nil {
		return driver.Report{}, err
	}
	answer, err := p.decide(ctx, draft)
	if err != nil {
		return driver.Report{}, err
	}
	return p.carryOut(ctx, draft, answer)
}

// proposed is the draft that the inputs name, once checks 1 to 10 let it pass.
func (j *job) proposed(ctx context.Context) (*proposal, *handoff.Draft[ticketpr.State], error) {
	p, err := j.proposal(ctx)
	if err != nil {
		return nil, nil, err
	}
	draft, err := p.verified(ctx)
	if err != nil {
		return nil, nil, err
	}
	opened, err := p.open(ctx, draft)
	return p, opened, err
}

// dispatcher is the account that asked for a draft: as the author of a pull request, it
// does not decide unless allow-author says so.
func (p *proposal) dispatcher(ctx context.Context, run int64) (account, error) {
	made, err := p.runs.Read(ctx, run)
	if err != nil {
		return account{}, handoff.NeedsActions(err, "the run that made the draft cannot be read")
	}
	member, err := p.api.Member(ctx, p.ref.Owner, p.ref.Repo, made.Actor)
	if errors.Is(err, github.ErrNotFound) { // deleted since, or an app
		err = nil
	}
	return account{made.Actor, member.ID}, err
}

// decide takes the decision: the environment's approvals, or the dispatch.
func (p *proposal) decide(ctx context.Context, o *handoff.Draft[ticketpr.State]) (decision.Answer, error) {
	m := o.Manifest
	approvals, err := p.approvals(ctx, m.RunID)
	if err != nil {
		return decision.Answer{}, err
	}
	files := o.State.Items()
	record := decision.Record{Thread: m.Thread, Digest: o.Digest, Code: o.Code, At: p.Clock(), By: p.by(),
		Via: decision.ByDispatch}
	rejected := gate.Rejected(approvals, m.Approvals, cmp.Or(p.Environment, m.Environment))
	var d decision.Decision
	switch {
	case p.routeA() && rejected != nil:
		return decision.Answer{}, rejected
	case p.routeA():
		record.Via = decision.ByApproval
		record.By, d, err = gate.Approved(approvals, m.Approvals, p.Environment, asFindings(files),
			func(a github.Approval) (decision.Decision, error) { return p.approval(a, files, m) })
	default:
		if d, err = p.readFiles("", "", files, m); err == nil {
			err = gate.Dispatch(p.env.Actor, p.env.TriggeringActor, p.env.Ref, p.repo.DefaultBranch)
		}
		if err = cmp.Or(err, gate.Open(m)); err == nil {
			err = cmp.Or(p.mayDecide(ctx, m, p.config.Deciders, p.drafter.login), rejected)
		}
	}
	return decision.Answer{Decision: d, Record: record.With(d)}, err
}

// approval reads what one approval decides: its comment, by somebody who may.
func (p *proposal) approval(a github.Approval, files []decision.Item,
	m checkpoint.Manifest) (d decision.Decision, err error) {
	err = gate.MayDecide(gate.Decider{Login: a.User}, p.drafter.login, p.AllowAuthor, true)
	if err == nil {
		d, err = p.readFiles(a.Comment, decision.Approve, files, m)
	}
	if err != nil {
		p.void = append(p.void, a.User+": "+driver.Gist(err))
	}
	return d, err
}

// readFiles is check 11: what a comment and the input commands decide about the files.
func (p *proposal) readFiles(comment string, fallback decision.Verdict, files []decision.Item,
	m checkpoint.Manifest) (decision.Decision, error) {
	commands, err := decision.Commands(secret.Redact(p.Commands))
	if err != nil {
		return decision.Decision{}, p.mistake(err, m)
	}
	text := strings.TrimSpace(comment + "\n" + commands)
	if asked, wrong := decision.Parse(text); wrong == nil && asked.Verdict == decision.Revise {
		return decision.Decision{}, gate.RefuseRevise(p.revising(cmp.Or(p.Code, p.Digest[:min(16, len(p.Digest))]),
			asked.Feedback))
	}
	d, err := gate.Decide(text, p.Decision, fallback, files, m.ExpiresAt)
	return d, p.mistake(err, m)
}

// revising is the command that revises a draft.
func (p *proposal) revising(code, feedback string) string {
	line := p.dispatchOf(p.DraftWorkflow) + " -f code=" + code + " -f feedback="
	if text := driver.Quoted(feedback); p.Summary != "counts" && len(line)+len(text) < 400 {
		return line + text
	}
	return line + "'TEXT'"
}

// dispatchOf is the command that starts a workflow about the ticket.
func (p *proposal) dispatchOf(workflow string) string {
	name := p.asked.Key
	if p.asked.Issue() {
		name = fmt.Sprintf("'#%d'", issueNumber(p.asked)) // for a shell, where # begins a comment
	}
	return driver.DispatchOn(workflow, p.ref, "ticket="+name)
}

// asFindings are files as approvals compare their effects.
func asFindings(files []decision.Item) (all []finding.Finding) {
	for _, i := range files {
		all = append(all, finding.Finding{ID: i.ID, Path: i.Path})
	}
	return all
}

// carryOut puts an answer on record, acts on it, and reports what came of it.
func (p *proposal) carryOut(ctx context.Context, o *handoff.Draft[ticketpr.State],
	answer decision.Answer) (driver.Report, error) {
	if err := o.CarryOut(ctx, p.desk(o.State), answer); err != nil {
		return driver.Report{}, err
	}
	view, err := o.Flow.Inspect(context.WithoutCancel(ctx), o.Manifest.Thread)
	if err != nil {
		return driver.Report{}, err
	}
	return p.ended(view, o.Draft), nil
}

// ended reports a draft that was decided.
func (p *proposal) ended(view graph.View[ticketpr.State], draft checkpoint.Draft) driver.Report {
	s := view.State
	r := driver.Report{Outcome: view.End, Thread: s.Facts.Thread, Code: draft.Code, Digest: draft.Digest,
		Artifact: ticketpr.Names.Draft(p.subject(), draft.Digest), Head: s.Facts.Subject.Head, Usage: s.Usage,
		Findings: s.Seen.Findings, Branch: s.Applied.Branch, PullRequest: s.PullRequest, Changes: p.changes}
	form := ""
	if q := p.request(s); q.Link && s.Applied.Commit != "" {
		form = apply.Form(q, apply.Applied(s.Applied))
	}
	r.Page = render.ProposalEnd(p.asked.Key, render.ProposalEnding{Outcome: r.Outcome, Reason: s.Error,
		Record: s.Decision, Branch: s.Applied.Branch, Pull: s.PullRequest, Form: form, Void: p.void, Changes: p.changes,
		Bot: p.bot(), Counts: p.Summary == "counts"})
	return r
}

// request is a state as apply takes it; before a decision without who approved.
func (p *proposal) request(s ticketpr.State) apply.Request {
	q := apply.Request{
		Ref: p.ref, Base: s.Facts.Subject.Head, Into: s.Branch.Base, Branch: s.BranchName(), Files: s.Files(),
		Thread: s.Facts.Thread, Link: p.config.Implement.PullRequest == "link",
	}
	q.Headline, q.Body = s.Message()
	made := render.Made{Record: s.Decision, Run: p.runPage(s.Facts.RunID), Bot: p.bot()}
	if p.asked.Issue() {
		made.Closes = issueNumber(p.asked)
	}
	if s.Decision != nil {
		q.Digest, q.CoAuthor, made.Drafted = s.Decision.Digest, p.drafter.trailer(), p.drafter.login
	}
	q.Title, q.Text = render.PullRequest(s.ApprovedProposal(), made)
	return q
}

// commit is the graph's apply_changes.
func (p *proposal) commit(ctx context.Context, s ticketpr.State) (ticketpr.Applied, error) {
	q := p.request(s)
	q.Race = p.desk(s).Race(*s.Decision)
	at, err := p.applier.Commit(ctx, q)
	return ticketpr.Applied(at), err
}

func (p *proposal) committed(ctx context.Context, s ticketpr.State) (ticketpr.Applied, bool, error) {
	at, found, err := p.applier.Find(ctx, p.request(s))
	return ticketpr.Applied(at), found, err
}

// openPull is the graph's create_pull_request.
func (p *proposal) openPull(ctx context.Context, s ticketpr.State) (string, error) {
	return p.applier.Open(ctx, p.request(s), apply.Applied(s.Applied))
}

// bot reports whether the job's token is that of an app, such as GITHUB_TOKEN.
func (p *proposal) bot() bool { return strings.HasPrefix(p.Token, "ghs_") }

// issueNumber is that of an issue of the repository.
func issueNumber(a ticketpr.Asked) int {
	_, digits, _ := strings.Cut(a.From, "#")
	n, _ := strconv.Atoi(digits) // digits, as they were parsed
	return n
}

// account is a login with what GitHub's own address of it needs.
type account struct {
	login string
	id    int64
}

// trailer names the account as a commit's co-author; empty where it is no user.
func (a account) trailer() string {
	if a.login == "" || a.id == 0 {
		return ""
	}
	return fmt.Sprintf("%s <%d+%s@users.noreply.github.com>", a.login, a.id, a.login)
}

// rejectedTicket is the job behind a deciding job that did not run, of a ticket.
func (j *job) rejectedTicket(ctx context.Context) (driver.Report, error) {
	approvals, err := j.answers(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	undecided := driver.Report{Outcome: driver.Paused, Message: undecidedYet}
	if _, any := gate.Rejection(approvals, nil, j.Environment); !any {
		return undecided, nil
	}
	p, o, err := j.proposed(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	rejection, ok := gate.Rejection(approvals, o.Manifest.Approvals, j.Environment)
	if !ok { // it was there before the draft
		return undecided, nil
	}
	return p.carryOut(ctx, o, j.rejection(o.Draft, rejection))
}
