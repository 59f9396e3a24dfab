package render

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/marker"
)

const accountRows = 50 // changes of a decision that are listed

// Account is a decision with all its words: who, when, how, on which draft, and
// what they changed. Empty for none.
func Account(r *decision.Record) string { return account(r, true) }

// account is a decision for the summary: who, when, how, which draft, and what
// they changed. Without words it leaves out reasons and note, in which a finding
// may be quoted.
func account(r *decision.Record, words bool) string {
	if r == nil {
		return ""
	}
	head := fmt.Sprintf("%s by %s on %s, %s. Draft digest %s.", did(*r), person(r.By), minute(r.At), via(r.Via),
		guard.Code(r.Digest))
	rows := changed(*r, words)
	if more := len(rows) - accountRows; more > 0 {
		rows = append(rows[:accountRows], "- and "+Count(more, "more change"))
	}
	if words && r.Feedback != "" {
		rows = append(rows, "- Feedback: "+guard.Inline(r.Feedback, 2000))
	}
	if words && r.Note != "" {
		rows = append(rows, "- Note: "+guard.Inline(r.Note, 2000))
	}
	return paragraphs(head, strings.Join(rows, "\n"))
}

// did is the verdict as what somebody did.
func did(r decision.Record) string {
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

func via(v decision.Via) string {
	switch v {
	case decision.ByApproval:
		return "in the environment's dialog"
	case decision.ByDispatch:
		return "by dispatch"
	case decision.ByCommandLine:
		return "on the command line"
	}
	return "by drafting again"
}

// changed is a row for each change of a finding.
func changed(r decision.Record, words bool) (rows []string) {
	add := func(id, what, why string) {
		row := "- " + guard.Inline(id, titleRunes) + " " + what
		if words && why != "" {
			row += ": " + guard.Inline(why, titleRunes)
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
		add(s.ID, "graded "+guard.Inline(string(s.Severity), titleRunes), "")
	}
	return rows
}

// listed shows untrusted lines behind a sentence; nothing for none.
func listed(head string, all []string) string {
	if len(all) == 0 {
		return ""
	}
	rows := make([]string, 0, len(all))
	for _, text := range all {
		rows = append(rows, "- "+guard.Inline(text, 2*titleRunes))
	}
	return paragraphs(head, strings.Join(rows, "\n"))
}

// Approval says who approved a draft, when, and what they changed.
type Approval struct {
	By       string    // login; untrusted text
	At       time.Time // zero is not shown
	Drafted  string    // "a model" or "rules"
	Dropped  int       // findings, as are the next three
	Edited   int
	Moved    int
	Regraded int
}

var plainLogin = regexp.MustCompile(`^[A-Za-z0-9-]+(\[bot\])?$`)

const postedBytes = 65_000 // of a whole review; GitHub takes 65,536

// Posted is the whole body of the posted review: body, one line about the
// approval, marker. Only the last two are not in what the approver could see.
// Where the marker's lists would make it too long for GitHub, they are shortened.
func Posted(body string, a Approval, m marker.Review) string {
	text := strings.TrimRight(body, "\n") + "\n\n" + a.String() + "\n"
	return text + m.Within(postedBytes-len(text)).String()
}

// String is the approval as one sentence of inert Markdown.
func (a Approval) String() string {
	text := "Drafted by " + guard.Inline(a.Drafted, titleRunes) + ", approved by " + person(a.By)
	if !a.At.IsZero() {
		text += " on " + a.At.UTC().Format("2 January 2006")
	}
	if c := a.changes(); c != "" {
		text += ", who " + c
	}
	return text + "."
}

// person is a login, inert.
func person(login string) string {
	if !plainLogin.MatchString(login) {
		login = guard.Code(login)
	}
	return strings.ReplaceAll(login, "[", `\[`)
}

func (a Approval) changes() string {
	var parts []string
	for _, c := range []struct {
		verb string
		n    int
	}{{"dropped", a.Dropped}, {"edited", a.Edited}, {"moved", a.Moved}, {"regraded", a.Regraded}} {
		switch {
		case c.n > 0 && len(parts) == 0:
			parts = append(parts, c.verb+" "+Count(c.n, "finding"))
		case c.n > 0:
			parts = append(parts, c.verb+" "+Thousands(int64(c.n)))
		}
	}
	return list(parts)
}
