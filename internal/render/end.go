package render

import (
	"cmp"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/guard"
)

const nothingPosted = ", nothing was posted"

// verdicts say how a run ended, by outcome (CONTRACT 3). The name of what was
// reviewed goes in for %.
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

// Ending says how a run ended that leaves nothing to decide. Reason and Changes
// are untrusted and may have several lines.
type Ending struct {
	Outcome string
	Reason  string
	Record  *decision.Record // the decision, where there is one
	Void    []string         // approvals that count for nothing, and why
	Changes []string         // what changed since the draft and invalidates nothing
	Restart string           // the command that drafts anew
	Reuses  bool             // what was paid is not paid again then
	Page    string           // of the review, where one stands
	Counts  bool             // nothing of a finding that was not posted is shown
}

// End is the job summary of a run that leaves nothing to decide: the verdict, the reason, the decision,
// what was read.
func End(r Review, e Ending) string {
	if e.Counts {
		r.Title = ""
	}
	verdict, ok := verdicts[e.Outcome]
	if !ok {
		verdict = "% ended: " + guard.Inline(e.Outcome, titleRunes)
	}
	if e.Outcome == "CLEAN" && len(r.Findings) == 0 {
		verdict = upperFirst(strings.Replace(r.counts()+" in %", noRuleMatched, "no rule matched", 1))
	}
	blocks := []string{"## " + strings.Replace(verdict, "%", r.name(), 1) + e.stands(r) + r.byRules(". "), r.subject(),
		why(e.reason(verdict)), r.page(e.Page),
		account(e.Record, !e.Counts),
		listed("**Void**, since each was refused:", e.Void),
		listed("**Changed since the draft**, which holds all the same:", e.Changes), e.restart(), e.read(r)}
	return paragraphs(append(blocks, e.rest(r)...)...) + "\n"
}

// stands is what stands on the pull request, behind the verdict.
func (e Ending) stands(r Review) string {
	text := r.stands()
	if e.Outcome == "POSTED" {
		text = standCount(append(r.standing(), r.Findings...), "")
	}
	if text == "" {
		return ""
	}
	return " · " + text
}

// Mistake is the job summary of a run that wrong inputs or settings kept from its work:
// what was wrong and what to do next, as the annotation says it.
func Mistake(text string) string {
	return paragraphs("## The settings of this job are wrong", guard.Fence(text, "")) + "\n"
}

// reason leaves out what the verdict or the decision's account says already.
func (e Ending) reason(verdict string) string {
	if e.Record != nil && e.Outcome == "ABORTED" {
		return ""
	}
	if strings.HasSuffix(verdict, nothingPosted) {
		return strings.Replace(e.Reason, nothingPosted, "", 1)
	}
	return e.Reason
}

// restart shows the command that drafts anew.
func (e Ending) restart() string {
	if e.Restart == "" {
		return ""
	}
	paid := ""
	if e.Reuses {
		paid = "; what was read and has not changed is not paid again"
	}
	return paragraphs("This drafts anew"+paid+":", guard.Fence(e.Restart, ""))
}

// read is the count line.
func (e Ending) read(r Review) string {
	switch {
	case len(r.Files) == 0 || e.Outcome == "SKIPPED":
		return ""
	case len(r.Findings) == 0 && r.counts() != noRuleMatched:
		return r.read()
	}
	return r.found() + " · " + r.read()
}

// rest is what of the review is shown beside its counts.
func (e Ending) rest(r Review) []string {
	unread, files := coverage(r.Files, draftFiles)
	unread = cmp.Or(unread, unreached(r.Files))
	drafted := e.Outcome == "CLEAN" || e.Outcome == "FAILED"
	switch {
	case e.Counts && drafted:
		return []string{unreached(r.Files), r.paid()}
	case e.Counts:
		return nil
	case drafted:
		r.Overview.ID = "" // nothing is posted
		return []string{banner(r.warnings()), r.overview(), r.posted(), r.asked(), unread, filtered(r.Filtered), files,
			r.paid()}
	}
	handover := ""
	if e.Outcome == "POSTED" && r.Handover == config.HandoverSummary {
		handover = r.handover(true)
	}
	return []string{handover, unread, files}
}

// paid is what the run cost, and with which model, in sentences.
func (r Review) paid() string {
	parts := costParts(r.Usage, r.Limit)
	if r.Model != "" && len(parts) > 0 {
		parts = append(parts, guard.Code(r.Model))
	}
	return sentences(sentenceOf(parts), r.reused())
}

// why shows the reason: one line as text, several as they are.
func why(reason string) string {
	reason = strings.TrimSpace(reason)
	if strings.Contains(reason, "\n") {
		return guard.Fence(reason, "")
	}
	return guard.Inline(upperFirst(reason), 2000)
}

// page links to the review, where the address is one of the repository's own.
func (r Review) page(url string) string {
	if !r.ownPage(url) {
		return guard.Inline(url, titleRunes)
	}
	return "[The review](" + url + ")"
}
