package summary

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wording"
)

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
