// Package proposal writes what people see of a ticket's change: the draft in Markdown,
// a job's summary, the commit's message and the pull request. What the review says of
// the change comes from package render, how to decide from package summary. Start
// reading at File.
package proposal

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wording"
)

// Proposal is a change that a model proposes for a ticket, as its approver sees it. Texts
// of the ticket and the model are untrusted.
type Proposal struct {
	change.Draft
	Kind       string   // fix or feat
	Warnings   []string // ours
	Notes      []string // what could not be done; may quote others
	Unreviewed bool     // no review of the change came about; Notes say why

	Feedback []string      // of its approvers so far
	Base     string        // commit
	Review   render.Review // findings, ticket, criteria, overview, revisions, usage and limit
}

// What every screen of a proposal keeps to.
const (
	SentenceRunes = 600   // of a sentence of the model
	OutputRunes   = 4_000 // of a command's output
)

// Title names the ticket and what it is about; its key alone where nothing else may be told.
func (p Proposal) Title() string {
	if p.Ticket.Summary == "" {
		return p.Ticket.Key
	}
	return p.Ticket.Key + ": " + p.Ticket.Summary
}

// Size is the draft in one line: type and complexity, files, lines, modules.
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

// File is the whole draft in Markdown: scope, files, tests and risk first, then
// reasons, what the review says, and each file's diff, folded.
func File(p Proposal) string { return p.file(p.diffs()) }

func (p Proposal) file(diffs string) string {
	parts := []string{"## Proposed changes for " + guard.Inline(p.Title(), render.TitleRunes), "**" + p.Size() + "**",
		p.warnings()}
	if p.Class.Type == change.Bug && p.RootCause != "" {
		parts = append(parts, "**Root cause:** "+guard.Inline(p.RootCause, SentenceRunes))
	}
	parts = append(parts, p.what(), p.where(), fileRows("### Files", p.Changes), fileRows("### Tests", p.Tests),
		p.checked(), p.reviewed(), p.Review.WhatWasAsked(), diffs, p.context(), p.Foot())
	return render.Paragraphs(parts...) + "\n"
}

// warnings are the lines above all others.
func (p Proposal) warnings() string {
	var all []string
	for _, w := range p.Warnings {
		all = append(all, "> "+wording.UpperFirst(w)+".")
	}
	if p.Class.Note != "" {
		all = append(all, "> "+guard.Inline(p.Class.Note, SentenceRunes))
	}
	for _, n := range p.Notes {
		all = append(all, "> "+guard.Inline(n, SentenceRunes))
	}
	if len(all) == 0 {
		return ""
	}
	return "> [!WARNING]\n" + strings.Join(all, "\n>\n")
}

// what is the ticket in the model's words, and the parts that these say it concerns.
func (p Proposal) what() string {
	if p.Class.Summary == "" {
		return ""
	}
	text := "**What it is:** " + guard.Inline(p.Class.Summary, SentenceRunes)
	for i, c := range p.Class.Components {
		text += map[bool]string{true: " Components: ", false: ", "}[i == 0] + guard.Code(guard.Line(c,
			render.TitleRunes))
	}
	return text
}

// where are the modules with their reasons.
func (p Proposal) where() string {
	var rows []string
	for _, m := range p.Scope.Modules {
		rows = append(rows, row(guard.Code(m.Name), guard.Inline(m.Reason, SentenceRunes)))
	}
	return "### Modules\n\n" + strings.Join(rows, "\n")
}

func fileRows(heading string, files []change.File) string {
	if len(files) == 0 {
		return ""
	}
	rows := []string{heading + "\n"}
	for _, f := range files {
		rows = append(rows, row(guard.Code(f.Path)+" "+Counted(f), guard.Inline(f.Description, SentenceRunes)))
	}
	return strings.Join(rows, "\n")
}

// row is an entry of a list with what is said of it, if anything.
func row(name, said string) string { return strings.TrimSuffix("- "+name+": "+said, ": ") }

// Counted says how much of a file changes.
func Counted(f change.File) string {
	if f.New() {
		return fmt.Sprintf("(new, +%d)", f.Added)
	}
	return fmt.Sprintf("(+%d −%d)", f.Added, f.Removed)
}

// checked is what the project's own command said.
func (p Proposal) checked() string {
	if p.Check == nil {
		return ""
	}
	output, left := wording.Clip(p.Check.Output, OutputRunes)
	if left > 0 {
		output += "\n…"
	}
	return "### Check\n\n" + guard.Code(p.Check.Command) + " **" + p.Check.Verdict() + "** on this change.\n\n" +
		render.Details("Its output", guard.Fence(output, ""))
}

// reviewed is what the review flow says of the change; empty where it said nothing.
func (p Proposal) reviewed() string {
	if p.Unreviewed {
		return ""
	}
	rows := []string{"### What the review says\n"}
	if text := guard.Inline(p.Review.Overview, render.OverviewRunes); text != "" {
		rows = append(rows, "What it does, in a model's words: "+text+"\n")
	}
	for _, f := range p.Review.Findings {
		rows = append(rows, fmt.Sprintf("- **%s**, %s line %d: %s. %s", f.Severity, guard.Code(f.Path), f.Line,
			render.Title(f), guard.Inline(f.Body, SentenceRunes)))
	}
	if len(p.Review.Findings) == 0 {
		rows = append(rows, "No findings.")
	}
	return strings.Join(rows, "\n")
}

// diffs are the files' diffs, each folded.
func (p Proposal) diffs() string {
	all := []string{"### Diff"}
	for _, f := range p.Proposed() {
		summary := render.CodeHTML(guard.Line(f.Path, render.TitleRunes)) + " " + Counted(f)
		all = append(all, render.Details(summary, guard.Fence(f.Patch, "diff")))
	}
	return render.Paragraphs(all...)
}

// context lists the pieces that the model was given, and the feedback that it heard.
func (p Proposal) context() string {
	var rows, said []string
	for _, c := range p.Chunks {
		rows = append(rows, fmt.Sprintf("- %s lines %d–%d, score %.2f", guard.Code(c.Path), c.StartLine, c.EndLine,
			c.Score))
	}
	for i, f := range p.Feedback {
		said = append(said, fmt.Sprintf("%d. %s", i+1, guard.Inline(f, SentenceRunes)))
	}
	given, heard := "", ""
	if len(rows) > 0 {
		given = render.Details("What the model was given: "+wording.Count(len(rows), "piece"), strings.Join(rows, "\n"))
	}
	if len(said) > 0 {
		heard = render.Details("Feedback so far", strings.Join(said, "\n"))
	}
	return render.Paragraphs(given, heard)
}

// Foot is the last line: base, what the draft cost, and which model made it.
func (p Proposal) Foot() string {
	parts := append([]string{fmt.Sprintf("Base %.7s", p.Base)}, wording.Costs(p.Review.Usage, p.Review.Limit)...)
	if p.Review.Model != "" {
		parts = append(parts, "by "+guard.Code(p.Review.Model))
	}
	return strings.Join(parts, ", ") + "."
}

// CommitMessage is what the commit of a proposal says: a line of at most 72 characters, and
// what and why behind it.
func CommitMessage(p Proposal) (headline, body string) {
	subject := strings.Join(strings.Fields(cmp.Or(p.Ticket.Summary, "implement the ticket")), " ")
	headline = guard.Line(fmt.Sprintf("%s(%s): %s", p.Kind, p.Ticket.Key, subject), 0)
	if r := []rune(headline); len(r) > headlineRunes {
		headline = strings.TrimSpace(string(r[:headlineRunes-1])) + "…"
	}
	var files []string
	for _, f := range p.Proposed() {
		files = append(files, row(f.Path, guard.Line(f.Description, SentenceRunes)))
	}
	why := wording.Wrapped(cmp.Or(p.RootCause, p.Class.Summary), headlineRunes)
	return headline, render.Paragraphs(strings.Join(why, "\n"), strings.Join(files, "\n"))
}

const headlineRunes = 72
