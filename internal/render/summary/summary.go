// Package summary writes a job's summary page: the draft that waits for a decision and how to
// decide it, or how the run ended and who decided. The review's own texts come from package
// render. Like that package, it is pure. Start reading at Draft, then End.
package summary

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wording"
)

const (
	draftBytes = 1_000_000 // GitHub drops a step's summary above 1,048,576
	draftFiles = 150_000   // approximate bytes of its list of files
)

// Draft returns the job summary of a review that waits for a decision or is kept without calling
// a person, in Markdown of less than 1 MiB. It counts findings that do not fit and says where they are.
func Draft(r render.Review, d Decide) string {
	if d.Counts {
		r.Title = ""
		return render.Paragraphs(d.head(r), r.NotReached(), d.hiddenNote(r), d.footer(r)) + "\n"
	}
	head := render.Paragraphs(d.head(r), banner(r.Warnings()), r.WhatItDoes())
	unread, files := r.FileLists(draftFiles)
	tail := render.Paragraphs(r.WhatWasAsked(), r.Instructions(config.HandoverReview, false),
		cmp.Or(unread, r.NotReached()), r.PostedBefore(), r.Resolved(), r.FilteredList(), r.Linters, files, d.footer(r))
	return render.Paragraphs(head, r.DraftFindings(draftBytes-len(head)-len(tail)), tail) + "\n"
}

// head returns the part above the findings: what the change is, what was found, and how to decide.
func (d Decide) head(r render.Review) string {
	counts := wording.Joined(" · ", r.Found(), r.Stands(), r.Unreported(), r.TallyInFull(), d.price(r),
		"code "+guard.Code(d.Code), "until "+wording.Minute(d.deadline()))
	return render.Paragraphs(d.title(r), r.Subject(), d.gateReason(r), counts,
		d.Section(r, examples(r.Findings)...))
}

func (d Decide) title(r render.Review) string {
	kind, name, what := "Review", r.Label(), "waits for a decision"
	if r.Partial {
		kind = "Partial review"
	}
	if d.Kept {
		what = "calls nobody"
	}
	if r.Round > 0 {
		name += ", " + r.Revision() + ","
	}
	return "## " + kind + " of " + name + " " + what + r.ByRules(". ")
}

func (d Decide) gateReason(r render.Review) string {
	switch {
	case !d.Kept:
		return ""
	case len(r.Findings) == 0:
		return "There is nothing to post, so nobody is asked."
	}
	return "Every finding is weaker than what calls a person, so nobody is asked and nothing is posted."
}

// deadline returns the time from which the draft can no longer be decided, or is gone.
func (d Decide) deadline() time.Time {
	if d.RetainedUntil.IsZero() || d.Expires.Before(d.RetainedUntil) {
		return d.Expires
	}
	return d.RetainedUntil
}

// price returns what the draft cost, how long it took and which model made it.
func (d Decide) price(r render.Review) string {
	var parts []string
	if r.Usage.Cost > 0 || r.Usage.Unpriced > 0 {
		parts = append(parts, wording.Price(r.Usage, 0))
	}
	if d.Elapsed > 0 {
		parts = append(parts, wording.Duration(d.Elapsed))
	}
	if r.Model != "" && r.Usage.Calls > 0 {
		parts = append(parts, guard.Code(r.Model))
	}
	return strings.Join(parts, ", ")
}

// banner returns the warnings: the first as an alert, and the others in a fold, so that they do not push the
// worst finding off the first screen.
func banner(notices []string) string {
	if len(notices) == 0 {
		return ""
	}
	line := func(notice string) string { return strings.Join(strings.Fields(notice), " ") }
	alert := "> [!WARNING]\n> " + line(notices[0])
	if len(notices) == 1 {
		return alert
	}
	var rest []string
	for _, n := range notices[1:min(len(notices), render.WarningRows)] {
		rest = append(rest, "- "+line(n))
	}
	if more := len(notices) - render.WarningRows; more > 0 {
		rest = append(rest, "- "+wording.Count(more, "more warning")+" of this kind.")
	}
	return render.Paragraphs(alert, render.Details(wording.Count(len(notices)-1, "more warning"),
		strings.Join(rest, "\n")))
}

func (d Decide) footer(r render.Review) string {
	var parts []string
	if r.Head != "" {
		parts = append(parts, "commit "+r.Commit())
	}
	parts = append(parts, wording.Calls(r.Usage)...)
	if r.Limit > 0 && r.Usage.Calls > 0 {
		parts = append(parts, "a limit of "+r.Limit.String())
	}
	where := "the artifact"
	if d.Artifact != "" {
		where += " " + guard.Code(d.Artifact)
	}
	where = "The review as it will be posted is `review.md` in " + where + "."
	if d.Trust == "encrypt" {
		where = strings.Replace(where, "is `review.md` in", "is encrypted, with all else, in", 1)
	}
	return wording.Joined(" ", sentenceOf(parts), r.FromEarlier(), r.Moved(), d.replacedNote(), where)
}

func sentenceOf(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return wording.UpperFirst(strings.Join(parts, ", ")) + "."
}

// replacedNote says what happened to the draft that this one replaces, if any.
func (d Decide) replacedNote() string {
	if d.Withdraws == "" {
		return ""
	}
	more := "nothing"
	if d.Extra > 0 {
		more = d.Extra.String()
	}
	return fmt.Sprintf("Drafted again: the earlier draft %s is withdrawn; this one cost %s more.",
		guard.Code(d.Withdraws), more)
}

// hiddenNote replaces the findings and warnings, and says how to read them.
func (d Decide) hiddenNote(r render.Review) string {
	text, how, are := "The findings", "This", " are"
	if len(r.Findings) == 1 {
		text, are = "The finding", " is"
	}
	if n := len(r.Notices) + len(r.Flags); n > 0 {
		text, are = text+" and "+wording.Count(n, "warning"), " are"
	}
	if d.Trust == "seal" || d.Trust == "encrypt" {
		how = "With the checkpoint key in `PR_REVIEW_CHECKPOINT_KEY`, this"
	}
	return render.Paragraphs(text+are+" not shown here. "+how+" shows the whole draft:", guard.Fence(d.Show, ""))
}
