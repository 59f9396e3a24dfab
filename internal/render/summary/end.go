package summary

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wording"
)

const nothingPosted = ", nothing was posted"

// verdicts say how a run ended, by outcome. The name of what was
// reviewed replaces %.
var verdicts = map[string]string{
	"SKIPPED": "% was not reviewed",
	"CLEAN":   "Nothing found in %",
	"POSTED":  "Review of % was posted",
	"ABORTED": "Review of % was rejected" + nothingPosted,
	"EXPIRED": "The draft for % has expired" + nothingPosted,
	"REFUSED": "The decision on % was refused" + nothingPosted,
	"FAILED":  "Review of % failed",
	"PAUSED":  "The draft for % was not rejected",
}

// Ending says how a run that leaves nothing to decide has ended. Reason and Changes are untrusted
// and may have several lines.
type Ending struct {
	Outcome string
	Reason  string
	Record  *decision.Record  // the decision, or nil
	Void    []string          // void approvals, and why each was refused
	Changes []string          // what changed since the draft without making it invalid
	Restart string            // the command that drafts again
	Reuses  bool              // Restart does not pay again for what was paid
	Page    string            // address of the posted review, or empty
	Verdict string            // replaces the one in verdicts, with % for the name
	Where   string            // where the result is now, in our words
	Counts  bool              // findings that were not posted are only counted
	Open    []finding.Finding // what was posted and stands now
}

// End returns the job summary of a run that leaves nothing to decide: the verdict, the reason,
// the decision, what was read.
func End(r render.Review, e Ending) string {
	if e.Counts {
		r.Title = ""
	}
	verdict := cmp.Or(e.Verdict, verdicts[e.Outcome], "% ended: "+guard.Inline(e.Outcome, render.TitleRunes))
	if e.Outcome == "CLEAN" && len(r.Findings) == 0 {
		verdict = wording.UpperFirst(strings.Replace(r.Result()+" in %", render.NoRuleMatched, "no rule matched", 1))
	}
	whose := render.OfEarlier
	if e.Outcome == "POSTED" {
		whose = ""
	}
	title := wording.Joined(" · ", "## "+strings.Replace(verdict, "%", r.Label(), 1),
		render.StandCount(e.Open, whose)) + r.ByRules(". ")
	blocks := []string{title, r.Subject(),
		reasonOf(e.reason(verdict)), r.ReviewLink(e.Page), e.Where,
		Account(e.Record, !e.Counts),
		listUnder("**Void**, since each was refused:", e.Void),
		listUnder("**Changed since the draft**, which still applies:", e.Changes), e.restartHint(), e.coverageLine(r)}
	return render.Paragraphs(append(blocks, e.otherParts(r)...)...) + "\n"
}

// Mistake returns the job summary of a run that stopped because of wrong inputs or settings. text
// is the annotation's: what was wrong and what to do next.
func Mistake(text string) string {
	return render.Paragraphs("## The settings of this job are wrong", guard.Fence(text, "")) + "\n"
}

// reason returns the reason without what the verdict or the decision's account already says.
func (e Ending) reason(verdict string) string {
	if e.Record != nil && e.Record.Decision == decision.Abort && e.Outcome == "ABORTED" {
		return ""
	}
	if strings.HasSuffix(verdict, nothingPosted) {
		return strings.Replace(e.Reason, nothingPosted, "", 1)
	}
	return e.Reason
}

func (e Ending) restartHint() string {
	if e.Restart == "" {
		return ""
	}
	paid := ""
	if e.Reuses {
		paid = "; what was read and has not changed is not paid again"
	}
	return render.Paragraphs("This drafts again"+paid+":", guard.Fence(e.Restart, ""))
}

func (e Ending) coverageLine(r render.Review) string {
	switch {
	case len(r.Files) == 0 || e.Outcome == "SKIPPED":
		return ""
	case len(r.Findings) == 0 && r.Result() != render.NoRuleMatched:
		return r.TallyAt()
	}
	return r.Found() + " · " + r.TallyAt()
}

// otherParts returns the parts of the review that are shown in addition to its counts.
func (e Ending) otherParts(r render.Review) []string {
	unread, files := r.FileLists(draftFiles)
	unread = cmp.Or(unread, r.NotReached())
	drafted := e.Outcome == "CLEAN" || e.Outcome == "FAILED"
	switch {
	case e.Counts && drafted:
		return []string{r.NotReached(), costSentence(r)}
	case e.Counts:
		return nil
	case drafted:
		r.Posts = false
		return []string{banner(r.Warnings()), r.WhatItDoes(), r.PostedBefore(), r.WhatWasAsked(), unread,
			r.FilteredList(), files, costSentence(r)}
	}
	handover := ""
	if e.Outcome == "POSTED" {
		handover = r.Instructions(config.HandoverSummary, true)
	}
	return []string{handover, unread, files}
}

// costSentence returns, in sentences, what the run cost and with which model.
func costSentence(r render.Review) string {
	parts := wording.Costs(r.Usage, r.Limit)
	if r.Model != "" && len(parts) > 0 {
		parts = append(parts, guard.Code(r.Model))
	}
	return wording.Joined(" ", sentenceOf(parts), r.FromEarlier())
}

// reasonOf returns a reason in Markdown: a single line as text, several in a fence.
func reasonOf(reason string) string {
	reason = strings.TrimSpace(reason)
	if strings.Contains(reason, "\n") {
		return guard.Fence(reason, "")
	}
	return guard.Inline(wording.UpperFirst(reason), 2000)
}

// Account returns a decision as the summary shows it: who, when, how, which draft, and what was
// changed. Without words it omits reasons, feedback and the note, which may quote a finding. It
// returns "" if r is nil.
func Account(r *decision.Record, words bool) string {
	if r == nil {
		return ""
	}
	head := fmt.Sprintf("%s by %s on %s, %s. Draft digest %s.", verdictWord(*r), render.Person(r.By),
		wording.Minute(r.At), via[r.Via], guard.Code(r.Digest))
	rows := changeRows(*r, words)
	if more := len(rows) - accountRows; more > 0 {
		rows = append(rows[:accountRows], "- and "+wording.Count(more, "more change"))
	}
	if words && r.Feedback != "" {
		rows = append(rows, "- Feedback: "+guard.Inline(r.Feedback, 2000))
	}
	if words && r.Note != "" {
		rows = append(rows, "- Note: "+guard.Inline(r.Note, 2000))
	}
	return render.Paragraphs(head, strings.Join(rows, "\n"))
}

// verdictWord returns the verdict as a past participle, such as Approved.
func verdictWord(r decision.Record) string {
	switch {
	case r.Withdrawn():
		return "Withdrawn"
	case r.Decision == decision.Approve:
		return "Approved"
	case r.Decision == decision.Abort:
		return "Rejected"
	case r.Decision == decision.Revise:
		return "Sent back"
	}
	return "Decided"
}

var via = map[decision.Via]string{
	decision.ByApproval: "in the environment's dialog", decision.ByDispatch: "by dispatch",
	decision.ByCommandLine: "on the command line", decision.ByRedraft: "by drafting again",
}

func changeRows(r decision.Record, words bool) (rows []string) {
	add := func(id, what, why string) {
		row := "- " + guard.Inline(id, render.TitleRunes) + " " + what
		if words && why != "" {
			row += ": " + guard.Inline(why, render.TitleRunes)
		}
		rows = append(rows, row)
	}
	for _, d := range r.Dropped {
		add(d.ID, "dropped", d.Reason)
	}
	for _, e := range r.Edited {
		add(e.ID, "edited", "")
	}
	for _, m := range r.Moved {
		add(m.ID, "moved into the body", m.Reason)
	}
	for _, s := range r.Severity {
		add(s.ID, "graded "+guard.Inline(string(s.Severity), render.TitleRunes), "")
	}
	return rows
}

// listUnder returns head followed by a list of untrusted lines, or "" if there are none.
func listUnder(head string, all []string) string {
	if len(all) == 0 {
		return ""
	}
	rows := make([]string, 0, len(all))
	for _, text := range all {
		rows = append(rows, "- "+guard.Inline(text, 2*render.TitleRunes))
	}
	return render.Paragraphs(head, strings.Join(rows, "\n"))
}

const accountRows = 50 // how many changes of a decision are listed
