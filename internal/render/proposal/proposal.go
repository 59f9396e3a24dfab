// Package proposal writes what people see of a ticket's change: the draft in Markdown, a job's
// summary, the commit message and the pull request. Package render writes what the review says
// about the change, and package summary how to decide. Start reading at File.
package proposal

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/wording"
)

// Proposal is the change that a model proposes for a ticket, as its approver sees it. Texts from
// the ticket and the model are untrusted.
type Proposal struct {
	change.Draft
	Warnings   []string // may quote others
	Unreviewed bool     // there was no review of the change; Warnings say why

	Feedback []string      // from its approvers so far
	Base     string        // the commit
	Review   render.Review // findings, ticket, criteria, overview, revisions, usage and limit
}

// Limits on every view of a proposal, in characters.
const (
	SentenceRunes = 600   // of a model's sentence
	OutputRunes   = 4_000 // of a command's output
)

// Title returns the ticket's key and summary, or only its key if no more may be shown.
func (p Proposal) Title() string { return wording.Joined(": ", p.Ticket.Key, p.Ticket.Summary) }

// Size returns the draft in one line: type, complexity, files, lines, modules, revision.
func (p Proposal) Size() string {
	added, removed := 0, 0
	for _, f := range p.Proposed() {
		added, removed = added+f.Added, removed+f.Removed
	}
	tests := "no test"
	if n := len(p.Tests); n > 0 {
		tests = wording.Count(n, "test file")
	}
	parts := []string{p.Class.Type + ", complexity " + guard.Line(p.Class.Complexity, 20),
		wording.Count(len(p.Changes), "file") + " and " + tests, fmt.Sprintf("+%d −%d lines", added, removed),
		wording.Count(len(p.Scope.Modules), "module")}
	return wording.Joined(" · ", append(parts, p.Review.Revision())...)
}

// File returns the whole draft in Markdown: size and warnings first, then the reasons, files and
// tests, what the review says, and each file's diff, folded.
func File(p Proposal) string { return p.file(p.diffs()) }

func (p Proposal) file(diffs string) string {
	return render.Paragraphs("## Proposed changes for "+guard.Inline(p.Title(), render.TitleRunes), "**"+p.Size()+"**",
		p.warnings(), labeled("Root cause", p.RootCause), labeled("What it is", p.Class.Summary),
		labeled("Components", strings.Join(p.Class.Components, ", ")), p.moduleList(),
		fileRows("### Files", p.Changes), fileRows("### Tests", p.Tests), p.checkResult(), p.reviewResult(),
		p.Review.WhatWasAsked(), diffs, p.givenContext(), p.Foot()) + "\n"
}

// labeled returns a sentence of the model after a label, or "" if there is none.
func labeled(label, text string) string {
	if text == "" {
		return ""
	}
	return "**" + label + ":** " + guard.Inline(text, SentenceRunes)
}

// warnings returns the alert at the top, or "".
func (p Proposal) warnings() string {
	var all []string
	for _, w := range p.Warnings {
		all = append(all, guard.Inline(strings.TrimSuffix(wording.UpperFirst(w), "."), SentenceRunes)+".")
	}
	if text := wording.Joined("\n>\n> ", all...); text != "" {
		return "> [!WARNING]\n> " + text
	}
	return ""
}

func (p Proposal) moduleList() string {
	var rows []string
	for _, m := range p.Scope.Modules {
		rows = append(rows, listItem(guard.Code(m.Name), guard.Inline(m.Reason, SentenceRunes)))
	}
	return "### Modules\n\n" + strings.Join(rows, "\n")
}

func fileRows(heading string, files []change.File) string {
	if len(files) == 0 {
		return ""
	}
	rows := []string{heading + "\n"}
	for _, f := range files {
		rows = append(rows, listItem(guard.Code(f.Path)+" "+Counted(f), guard.Inline(f.Description, SentenceRunes)))
	}
	return strings.Join(rows, "\n")
}

// listItem returns a list entry for name, followed by said if there is any.
func listItem(name, said string) string { return "- " + wording.Joined(": ", name, said) }

// Counted returns the number of lines added and removed, and whether the file is new, or may not parse.
func Counted(f change.File) string {
	text := fmt.Sprintf("+%d −%d", f.Added, f.Removed)
	if f.New() {
		text = fmt.Sprintf("new, +%d", f.Added)
	}
	if f.Doubt {
		text += ", may not parse"
	}
	return "(" + text + ")"
}

// checkResult returns the result of the project's own command, or "".
func (p Proposal) checkResult() string {
	if p.Check == nil {
		return ""
	}
	return "### Check\n\n" + guard.Code(p.Check.Command) + " **" + p.Check.Verdict() + "** on this change.\n\n" +
		render.Details("Its output", guard.Fence(guard.Cut(p.Check.Output, OutputRunes), ""))
}

// reviewResult returns what the review flow says about the change, or "" if there was no review.
func (p Proposal) reviewResult() string {
	if p.Unreviewed {
		return ""
	}
	var rows []string
	for _, f := range p.Review.Findings {
		rows = append(rows, fmt.Sprintf("- **%s**, %s line %d: %s. %s", f.Severity, guard.Code(f.Path), f.Line,
			render.Title(f), guard.Inline(f.Body, SentenceRunes)))
	}
	found := cmp.Or(strings.Join(rows, "\n"), "No findings.")
	return render.Paragraphs("### What the review says", p.Review.WhatItDoes(), found)
}

func (p Proposal) diffs() string {
	all := []string{"### Diff"}
	for _, f := range p.Proposed() {
		summary := render.CodeHTML(guard.Line(f.Path, render.TitleRunes)) + " " + Counted(f)
		all = append(all, render.Details(summary, guard.Fence(Patch(f), "diff")))
	}
	return render.Paragraphs(all...)
}

// Patch returns a file's hunks as people are shown them: without the credentials in lines of the base. An added line is
// shown as it will be committed (P2).
func Patch(f change.File) string {
	clean, _ := secret.Patch(f.Patch)
	lines := strings.Split(clean, "\n")
	for i, line := range strings.Split(f.Patch, "\n") {
		if strings.HasPrefix(line, "+") && i < len(lines) {
			lines[i] = line
		}
	}
	return strings.Join(lines, "\n")
}

// givenContext lists the pieces and the feedback that the model was given.
func (p Proposal) givenContext() string {
	var rows, said []string
	for _, c := range p.Chunks {
		rows = append(rows, fmt.Sprintf("- %s lines %d–%d, score %.2f", guard.Code(c.Path), c.StartLine, c.EndLine,
			c.Score))
	}
	for i, f := range p.Feedback {
		said = append(said, fmt.Sprintf("%d. %s", i+1, guard.Inline(f, SentenceRunes)))
	}
	given := "What the model was given: " + wording.Count(len(rows), "piece")
	return render.Paragraphs(render.Details(given, strings.Join(rows, "\n")),
		render.Details("Feedback so far", strings.Join(said, "\n")))
}

// Foot returns the last line: the base, what the draft cost, and the model that made it.
func (p Proposal) Foot() string {
	parts := append([]string{fmt.Sprintf("Base %.7s", p.Base)}, wording.Costs(p.Review.Usage, p.Review.Limit)...)
	if p.Review.Model != "" {
		parts = append(parts, "by "+guard.Code(p.Review.Model))
	}
	return strings.Join(parts, ", ") + "."
}

// CommitMessage returns the commit message: a headline of at most 72 characters, and a body with
// the reason and the files.
func CommitMessage(p Proposal) (headline, body string) {
	subject := deactivate(strings.Join(strings.Fields(cmp.Or(p.Ticket.Summary, "implement the ticket")), " "))
	headline = guard.Line(fmt.Sprintf("%s(%s): %s", p.Class.Kind(), p.Ticket.Key, subject), 0)
	if r := []rune(headline); len(r) > headlineRunes {
		headline = strings.TrimSpace(string(r[:headlineRunes-1])) + "…"
	}
	var files []string
	for _, f := range p.Proposed() {
		files = append(files, listItem(f.Path, guard.Line(f.Description, SentenceRunes)))
	}
	why := wording.Wrapped(cmp.Or(p.RootCause, p.Class.Summary), headlineRunes)
	return headline, deactivate(render.Paragraphs(strings.Join(why, "\n"), strings.Join(files, "\n")))
}

// acting matches what GitHub acts on in a commit's message, which knows no code spans: names,
// issues and addresses, which a word before them may close, and what skips workflows.
var acting = pattern.Lazy(`(?i)(@|://|\[(?:skip|ci|no|actions) )(\w)|(#|gh-)(\d)`)

// deactivate returns a text with a space in each match of acting.
func deactivate(s string) string { return acting().ReplaceAllString(s, "$1$3 $2$4") }

const headlineRunes = 72
