package render

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/guard"
)

// Approval says who approved a draft, when, and what they changed.
type Approval struct {
	By        string    // login; untrusted text
	At        time.Time // zero is not shown
	Drafted   string    // "a model" or "rules"
	Dropped   int       // findings, as are the next three
	Edited    int
	Moved     int
	Regraded  int
	RecordURL string // page of the approval record; empty for none
}

// Marker makes a posted review findable. It is an HTML comment in the last line.
type Marker struct {
	Thread   string // owner/repo#42:<head>, with @instance behind the number
	Digest   string // of the checkpoint, hex
	Approved string // of what was approved, hex
}

var (
	markerLine = regexp.MustCompile(`^<!-- pr-review:v1 thread=([A-Za-z0-9._-]+/[A-Za-z0-9._-]+#[0-9]+(?:@[a-z0-9-]+)?:[0-9a-f]+) digest=([0-9a-f]+) approved=([0-9a-f]+) -->$`)
	plainLogin = regexp.MustCompile(`^[A-Za-z0-9-]+(\[bot\])?$`)
	plainURL   = regexp.MustCompile(`^https?://[A-Za-z0-9.:/#?=&_-]+$`)
)

// Posted is the whole body of the posted review: body, one line about the
// approval, marker. Only the last two are not in what the approver could see.
func Posted(body string, a Approval, m Marker) string {
	return strings.TrimRight(body, "\n") + "\n\n" + a.String() + "\n" + m.String()
}

// String is the approval as one sentence of inert Markdown.
func (a Approval) String() string {
	text := "Drafted by " + guard.Inline(a.Drafted, titleRunes) + ", approved by " + person(a.By)
	if !a.At.IsZero() {
		text += " on " + day(a.At)
	}
	if c := a.changes(); c != "" {
		text += ", who " + c
	}
	if plainURL.MatchString(a.RecordURL) {
		text += " ([approval record](" + a.RecordURL + "))"
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

// String is the marker's line. It is empty where a field has another form than
// documented, so that nothing from outside can get into the comment.
func (m Marker) String() string {
	line := fmt.Sprintf("<!-- pr-review:v1 thread=%s digest=%s approved=%s -->", m.Thread, m.Digest, m.Approved)
	if !markerLine.MatchString(line) {
		return ""
	}
	return line
}

// ParseMarker reads the marker of a posted review's body: the last line alone,
// in exactly the form that Marker writes. Who posted the review is for the
// caller to check.
func ParseMarker(body string) (Marker, bool) {
	body = strings.TrimRight(body, " \t\r\n")
	found := markerLine.FindStringSubmatch(body[strings.LastIndexByte(body, '\n')+1:])
	if found == nil {
		return Marker{}, false
	}
	return Marker{Thread: found[1], Digest: found[2], Approved: found[3]}, true
}
