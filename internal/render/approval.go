package render

import (
	"regexp"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/wording"
)

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
	text := "Drafted by " + guard.Inline(a.Drafted, TitleRunes) + ", approved by " + Person(a.By)
	if !a.At.IsZero() {
		text += " on " + a.At.UTC().Format("2 January 2006")
	}
	if c := a.changes(); c != "" {
		text += ", who " + c
	}
	return text + "."
}

// Person is a login, inert.
func Person(login string) string {
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
			parts = append(parts, c.verb+" "+wording.Count(c.n, "finding"))
		case c.n > 0:
			parts = append(parts, c.verb+" "+wording.Thousands(int64(c.n)))
		}
	}
	return wording.List(parts)
}
