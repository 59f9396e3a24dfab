package job

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/apply"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/render/proposal"
)

// dispatcher is who asked for a draft: as the author of a pull request, that account does
// not decide unless allow-author says so. It may ask for another draft.
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
	if p.drafter = made.Actor; member.ID != 0 && made.Actor != "" {
		p.coAuthor = fmt.Sprintf("%s <%d+%[1]s@users.noreply.github.com>", made.Actor, member.ID)
	}
	return made.Actor, err
}

// asFindings are a draft's files as approvals compare their effects.
func asFindings(s ticketpr.State) (all []finding.Finding) {
	for _, i := range s.Items() {
		all = append(all, finding.Finding{ID: i.ID, Path: i.Path})
	}
	return all
}

// ended reports a draft that was decided.
func (p *ticketDraft) ended(ctx context.Context, draft *handoff.Draft[ticketpr.State]) (driver.Report, error) {
	v, err := p.driver(draft.Store, draft.Manifest.Thread).Proposed(ctx)
	return p.reported(v), err
}

// reported says how a draft stands, with the page of one that waits for nothing any more.
func (p *ticketDraft) reported(v driver.Proposal) driver.Report {
	s, counts := v.State, p.Summary == "counts"
	r := driver.Report{Outcome: v.Outcome, Thread: s.Facts.Thread, Code: v.Code, Digest: v.Digest, Packed: v.Packed,
		Head: s.Facts.Subject.Head, Usage: s.Usage, Findings: s.Seen.Findings, Branch: s.Applied.Branch,
		PullRequest: s.PullRequest, Message: s.Error}
	if v.Digest != "" {
		r.Artifact = ticketpr.Names.Draft(p.origin.Subject, v.Digest)
	}
	if v.Outcome == ticketpr.Paused {
		return r
	}
	record := s.Account()
	if counts {
		record = s.Decision // without the paths
	}
	r.Page = proposal.End(p.asked.Key, proposal.Ending{Outcome: r.Outcome, Reason: s.Error,
		Record: record, Branch: s.Applied.Branch, Pull: s.PullRequest, Form: p.Form(s), Void: p.void,
		Changes: p.changes, Bot: p.bot(), Counts: counts})
	return r
}

// request is a state as apply takes it; before a decision without who approved.
func (p *ticketDraft) request(s ticketpr.State) apply.Request {
	q := driver.ApplyRequest(p.ref, s, proposal.Made{Run: driver.RunPage(p.ref, s.Facts.RunID), Bot: p.bot(),
		Closes: p.asked.Issue(), Drafted: p.drafter})
	q.Link, q.Again = p.config.Implement.PullRequest == "link", "re-run the failed jobs"
	if q.CoAuthor = p.coAuthor; s.Decision != nil {
		q.Race = p.desk(s).Race(*s.Decision)
	}
	return q
}

// bot reports whether the job's token is that of an app, such as GITHUB_TOKEN.
func (p *ticketDraft) bot() bool { return strings.HasPrefix(p.Token, "ghs_") }
