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

// Made says how a pull request came about. All of it is our own text, except the logins.
type Made struct {
	Closes  int              // the issue of the repository that merging it closes; 0 for none
	Drafted string           // login of the person who requested the draft
	Record  *decision.Record // the approval; nil for none
	Run     string           // address of the run that drafted
}

// plainAddress matches addresses that cannot end a Markdown link; a tracker may return anything.
var plainAddress = pattern.Lazy(`^https://[A-Za-z0-9.:/?=&_~%-]+$`)

const (
	summaryBytes   = 900_000 // GitHub drops a summary of 1 MiB
	pullTitleRunes = 120
	pullBytes      = 60_000 // GitHub takes 65,536 characters
)

// PullRequest returns the title and description of a proposal's pull request: what, why, files,
// tests and criteria, and how it was made.
func PullRequest(p Proposal, m Made) (title, body string) {
	name := p.Ticket.Key
	if n, ok := strings.CutPrefix(name, "gh-"); ok {
		name = "#" + n
	}
	subject := deactivate(strings.Join(strings.Fields(cmp.Or(p.Ticket.Summary, "proposed change")), " "))
	title = guard.Line(fmt.Sprintf("[%s] %s", name, subject), pullTitleRunes)
	foot := p.provenance(m)
	body = render.Paragraphs(guard.Inline(p.Class.Summary, SentenceRunes), labeled("Root cause", p.RootCause),
		p.ticketLink(m), p.moduleList(), fileRows("### Files", p.Changes), fileRows("### Tests", p.Tests),
		p.Review.WhatWasAsked())
	if room := pullBytes - len(foot); len(body) > room {
		body = body[:strings.LastIndexByte(body[:room], '\n')] + "\n\nThe rest is left out: it would be too long."
	}
	return title, body + "\n\n---\n\n" + foot
}

// ticketLink links to the ticket, or says that merging closes it if it is an issue here.
func (p Proposal) ticketLink(m Made) string {
	switch {
	case m.Closes > 0:
		return fmt.Sprintf("Closes #%d.", m.Closes)
	case plainAddress().MatchString(p.Ticket.URL):
		return fmt.Sprintf("Ticket: [%s](<%s>).", p.Ticket.Key, p.Ticket.URL)
	}
	return "Ticket: " + guard.Code(p.Ticket.Key) + "."
}

// provenance returns the last paragraph: how the change was made.
func (p Proposal) provenance(m Made) string {
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
	return text
}

// Draft returns the job summary of a proposal that waits: the draft, and how to decide.
func Draft(p Proposal, d summary.Decide) string {
	draft := File(p)
	if len(draft) > summaryBytes {
		where := "Read it in the artifact before you decide."
		if d.Trust == "encrypt" {
			where = "The artifact is encrypted: reject this draft, or have it drafted again with a smaller change."
		}
		draft = p.file("### Diff\n\nIt is too long to be shown here. " + where)
	}
	var commands []string
	if files := p.Proposed(); len(files) > 1 {
		commands = []string{"/drop " + files[len(files)-1].Path + ": REASON"}
	}
	if d.Counts {
		draft, commands = "## Proposed changes for "+guard.Code(p.Ticket.Key)+"\n\n**"+p.Size()+"**", nil
	}
	foot := "Draft " + guard.Code(d.Code) + ", until " + wording.Minute(d.Expires) + "."
	if d.Trust != "encrypt" {
		foot += " For `git apply`, the diff is `change.patch` in the artifact " + guard.Code(d.Artifact) + "."
	}
	return render.Paragraphs(draft, d.Section(p.Review, commands...), foot) + "\n"
}

// Ended says where a ticket's change is when its run has ended.
type Ended struct {
	Branch string
	Pull   string // address of the pull request, or of the form that opens it
	Form   string // that form, filled in; empty if the pull request is open
	Bot    bool   // a bot opened it, so its workflows wait for an approval
}

// verdicts replace those of package summary for a ticket's run.
var verdicts = map[string]string{
	"POSTED":  "The change for % is on its branch",
	"ABORTED": "The change for % was rejected: nothing was pushed",
	"FAILED":  "No change for % could be drafted",
	"REFUSED": "The change for % was not applied",
	"EXPIRED": "The draft for % was not decided in time",
}

// End returns the job summary of a ticket's run that leaves nothing to decide.
func End(key string, e summary.Ending, at Ended) string {
	e.Verdict = cmp.Or(e.Verdict, verdicts[e.Outcome])
	switch {
	case at.Form != "":
		e.Where = fmt.Sprintf("Branch %s. [Open the pull request](<%s>): the form is filled in, and you are its "+
			"author.", guard.Code(at.Branch), at.Form)
	case at.Pull != "":
		e.Where = fmt.Sprintf("Branch %s, pull request <%s>.", guard.Code(at.Branch), at.Pull)
		if at.Bot {
			e.Where += "\n\nIts author is a bot: workflows on it wait until somebody who may write approves them."
		}
	}
	return summary.End(render.Review{Name: key}, e)
}
