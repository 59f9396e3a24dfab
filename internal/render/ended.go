package render

import (
	"strings"

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
}

// Ended is the job summary of a run that leaves nothing to decide: the verdict,
// the reason, what was read. The reason is untrusted and may have several lines.
func Ended(r Review, outcome, reason string) string {
	verdict, ok := verdicts[outcome]
	if !ok {
		verdict = "% ended: " + guard.Inline(outcome, titleRunes)
	}
	if strings.HasSuffix(verdict, nothingPosted) {
		reason = strings.Replace(reason, nothingPosted, "", 1)
	}
	unread, files := coverage(r.Files, draftFiles)
	blocks := []string{"## " + strings.Replace(verdict, "%", r.name(), 1) + r.byRules(". "), r.why(reason)}
	switch {
	case len(r.Files) == 0 || outcome == "SKIPPED":
	case len(r.Findings) == 0:
		blocks = append(blocks, r.read())
	default:
		blocks = append(blocks, r.found()+" · "+r.read())
	}
	if outcome == "CLEAN" || outcome == "FAILED" {
		return paragraphs(append(blocks, banner(r.Notices), unread, filtered(r.Filtered), files, sentenceOf(r.bill(0)))...) + "\n"
	}
	return paragraphs(append(blocks, unread, files)...) + "\n"
}

// why shows the reason: the review's page as a link, one line as text, several
// as they are.
func (r Review) why(reason string) string {
	reason = strings.TrimSpace(reason)
	if page, ok := r.reviewPage(reason); ok {
		return page
	}
	if strings.Contains(reason, "\n") {
		return guard.Fence(reason, "")
	}
	return guard.Inline(upperFirst(reason), 2000)
}

func (r Review) reviewPage(url string) (string, bool) {
	rest, ok := strings.CutPrefix(url, r.Web+"/pull/")
	if !ok || !r.linkable() || strings.Trim(rest, "0123456789#abcdefghijklmnopqrstuvwxyz-") != "" {
		return "", false
	}
	return "[The review](" + url + ")", true
}
