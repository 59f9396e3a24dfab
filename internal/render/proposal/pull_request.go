package proposal

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/wording"
)

// Made says how a pull request came about. All of it is ours but the logins.
type Made struct {
	Closes  int              // the issue of the repository that merging it closes; 0 for none
	Drafted string           // login of who asked for the draft
	Record  *decision.Record // of who approved it
	Run     string           // address of the run that drafted
	Bot     bool             // its author is a bot, whose workflows wait for an approval
}

// plainAddress is one that ends no link: a tracker's answer may name anything.
var plainAddress = pattern.Lazy(`^https://[A-Za-z0-9.:/?=&_~%-]+$`)

const (
	summaryBytes   = 900_000 // GitHub drops a summary of 1 MiB
	pullTitleRunes = 120
	pullBytes      = 60_000 // GitHub takes 65,536 characters
)

// PullRequest is the title and the description of a proposal's pull request: what, why,
// files, tests and criteria, and how it was made.
func PullRequest(p Proposal, m Made) (title, body string) {
	name := p.Ticket.Key
	if n, ok := strings.CutPrefix(name, "gh-"); ok {
		name = "#" + n
	}
	subject := strings.Join(strings.Fields(cmp.Or(p.Ticket.Summary, "proposed change")), " ")
	title = guard.Line(fmt.Sprintf("[%s] %s", name, subject), pullTitleRunes)
	cause := ""
	if p.RootCause != "" {
		cause = "**Root cause:** " + guard.Inline(p.RootCause, SentenceRunes)
	}
	foot := p.made(m)
	body = render.Paragraphs(guard.Inline(p.Class.Summary, SentenceRunes), cause, p.ticketLink(m), p.where(),
		fileRows("### Files", p.Changes), fileRows("### Tests", p.Tests), p.Review.WhatWasAsked())
	if room := pullBytes - len(foot); len(body) > room {
		body = body[:strings.LastIndexByte(body[:room], '\n')] + "\n\nThe rest is left out: it would be too long."
	}
	return title, body + "\n\n---\n\n" + foot
}

// ticketLink leads to the ticket, which merging closes where it is an issue here.
func (p Proposal) ticketLink(m Made) string {
	switch {
	case m.Closes > 0:
		return fmt.Sprintf("Closes #%d.", m.Closes)
	case plainAddress().MatchString(p.Ticket.URL):
		return fmt.Sprintf("Ticket: [%s](<%s>).", p.Ticket.Key, p.Ticket.URL)
	}
	return "Ticket: " + guard.Code(p.Ticket.Key) + "."
}

// made is the last paragraph.
func (p Proposal) made(m Made) string {
	text := "A model drafted this change"
	if m.Drafted != "" {
		text += " for " + render.Person(m.Drafted)
	}
	if m.Run != "" {
		text += " (" + m.Run + ")"
	}
	if r := m.Record; r != nil {
		text += fmt.Sprintf("; %s approved draft `%s` on %s", render.Person(r.By), r.Code,
			r.At.UTC().Format("2 January 2006"))
		if n := len(r.Dropped); n > 0 {
			text += ", " + wording.Count(n, "file") + " dropped"
		}
	}
	if c := p.Check; c != nil {
		text += ". " + guard.Code(c.Command) + " " + c.Verdict() + " on it."
	} else {
		text += ". Its tests were not run when it was made."
	}
	if m.Bot {
		text += " Its workflows wait until somebody who may write approves them."
	}
	return text
}

// Draft is the job summary of a proposal that waits: the draft, and how to decide.
func Draft(p Proposal, d summary.Decide) string {
	draft := File(p)
	if len(draft) > summaryBytes {
		draft = p.file("### Diff\n\nIt is too long to be shown here. Read it in the artifact before you decide.")
	}
	if d.Counts {
		draft = "## Proposed changes for " + guard.Code(p.Ticket.Key) + "\n\n**" + p.Size() + "**"
	}
	drop := ""
	if files := p.Proposed(); len(files) > 1 && !d.Counts {
		drop = "/drop " + files[len(files)-1].Path + ": REASON"
	}
	parts := []string{draft, "### Decide"}
	if d.Environment != "" {
		parts = append(parts, "**As it stands:** *Review deployments* above, tick "+guard.Code(d.Environment)+
			", *Approve and deploy*; or *Reject*.")
		if drop != "" {
			parts = append(parts, "**With changes:** write commands into the comment of that dialog, one a line:",
				guard.Fence(drop, ""))
		}
		parts = append(parts, d.Dispatched())
	} else {
		parts = append(parts, "**As it stands:**", guard.Fence(d.Dispatch, ""), "**Reject:**",
			guard.Fence(d.DispatchAbort, ""))
		if drop != "" {
			parts = append(parts, "**With changes:**", guard.Fence(d.Dispatch+" -f commands='"+
				strings.ReplaceAll(drop, "'", `'\''`)+"'", ""))
		}
	}
	foot := "Draft " + guard.Code(d.Code) + ", until " + wording.Minute(d.Expires) + "."
	if d.Trust != "encrypt" {
		foot += " For `git apply`, the diff is `change.patch` in the artifact " + guard.Code(d.Artifact) + "."
	}
	return render.Paragraphs(append(parts, d.Another(p.Round), d.Retained(), foot)...) + "\n"
}

// Ending is what became of a ticket's run.
type Ending struct {
	Outcome string
	Reason  string // why it failed, or what ended it
	Record  *decision.Record
	Branch  string
	Pull    string   // address of the pull request, or of the form that opens it
	Form    string   // that form, filled in; empty where the pull request is open
	Void    []string // approvals that count for nothing, and why
	Changes []string // since the draft was made, without mattering
	Bot     bool     // a bot opened it, so its workflows wait for an approval
	Counts  bool
	Applies bool // it is of a job that decides
}

// End is the job summary of a ticket's run that leaves nothing to decide.
func End(key string, e Ending) string {
	verdict := map[string]string{"POSTED": "The change for % is on its branch",
		"ABORTED": "The change for % was rejected: " +
			"nothing was pushed", "FAILED": "No change for % could be drafted",
		"REFUSED": "The change for % was not applied",
		"PAUSED":  "The draft for % was not rejected",
		"EXPIRED": "The draft for % was not decided in time"}[e.Outcome]
	if e.Applies && e.Outcome == "FAILED" {
		verdict = "The change for % could not be carried out"
	}
	if verdict == "" {
		verdict = "% ended: " + guard.Inline(e.Outcome, render.TitleRunes)
	}
	where, waits := "", ""
	switch {
	case e.Form != "":
		where = fmt.Sprintf("Branch %s. [Open the pull request](<%s>): the form is filled in, and you are its author.",
			guard.Code(e.Branch), e.Form)
	case e.Pull != "":
		where = fmt.Sprintf("Branch %s, draft pull request <%s>.", guard.Code(e.Branch), e.Pull)
		if e.Bot {
			waits = "Its author is a bot: workflows on it wait until somebody who may write approves them."
		}
	}
	return render.Paragraphs("## "+strings.Replace(verdict, "%", guard.Code(key), 1), summary.ReasonOf(e.Reason),
		where,
		waits, summary.Account(e.Record, !e.Counts), summary.Listed("**Void**, since each was refused:", e.Void),
		summary.Listed("**Changed since the draft**, which still applies:", e.Changes)) + "\n"
}
