package decision

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
)

// BadLine is a line for which the decision is refused. Line counts from 1; 0 means the text
// as a whole. Text is the line as written. Meant is the command that the approver may have
// meant, or empty.
type BadLine struct {
	Line   int
	Text   string
	Reason string
	Meant  string
}

// Error reports why a decision was refused as a whole. The caller may set the other fields:
// Until is when the draft stops waiting; Next says how to decide again if the route has its
// own way; Unquoted keeps the lines' text out of the message, for places where findings
// must not be readable.
type Error struct {
	Lines    []BadLine
	Until    time.Time
	Next     string
	Unquoted bool
}

const (
	shownLines = 10
	shownText  = 60  // characters of a line
	shownMeant = 120 // characters of the command that was meant
)

// add records a line as bad if there is any reason.
func (e *Error) add(c Command, reasons ...string) {
	if len(reasons) > 0 {
		e.Lines = append(e.Lines, BadLine{c.Line, c.Text, strings.Join(slices.Compact(reasons), "; "), suggest(c.Text)})
	}
}

// About adapts reasons and suggested commands to the draft: of files only /drop with a path is
// suggested, beside the verdicts, and for a command nothing that the draft would refuse.
func (e *Error) About(draft []Item) {
	for i, l := range e.Lines {
		if blocker := blocker(draft); l.Meant != "" && blocker != "" && strings.Contains(l.Reason, ownID) {
			e.Lines[i].Meant = example("drop", []string{blocker})
		} else if verb := firstWord(l.Meant); consistsOfFiles(draft) && verb != "" && verdictOf(verb) == "" {
			e.Lines[i].Meant = "/drop " + draft[len(draft)-1].Path + ": REASON"
			if strings.Contains(l.Reason, "finding") {
				e.Lines[i].Reason = byPaths
			}
		} else if meant, err := Parse(l.Meant); err == nil && strings.HasPrefix(l.Text, "/") {
			if _, err := meant.Check(draft); err != nil {
				e.Lines[i].Meant = ""
			}
		}
	}
}

// blocker returns the id of a draft's first blocker, or "".
func blocker(draft []Item) string {
	for _, item := range draft {
		if item.Severity == Blocker {
			return item.ID
		}
	}
	return ""
}

const byPaths = "files of a proposed change are dropped by their paths, or kept as they are"

// consistsOfFiles reports whether a draft consists of files rather than findings.
func consistsOfFiles(draft []Item) bool { return len(draft) > 0 && draft[0].File }

func (e *Error) orNil() error {
	if len(e.Lines) == 0 {
		return nil
	}
	return e
}

// Error returns the message for the approver. No text of the decision can start a line of
// its own in it or stay invisible.
func (e *Error) Error() string { return e.Problem().Error() }

// Problem returns what was refused, each line with its reason, and what to do next.
func (e *Error) Problem() *problem.Error {
	p := &problem.Error{Kind: problem.Refused, What: "decision refused, nothing was posted"}
	shown, text := e.Lines[:min(len(e.Lines), shownLines)], 0
	for _, l := range shown {
		text = max(text, utf8.RuneCountInString(e.quoted(l)))
	}
	for _, l := range shown {
		label := "text"
		if l.Line > 0 {
			label = fmt.Sprintf("line %d", l.Line)
		}
		p.Rows = append(p.Rows, [2]string{label, fmt.Sprintf("%-*s%s", text, e.quoted(l), e.reason(l))})
	}
	if more := len(e.Lines) - len(shown); more > 0 {
		p.Rows = append(p.Rows, [2]string{" ", fmt.Sprintf("and %d more", more)})
	}
	next := e.next()
	if !e.Until.IsZero() {
		next += "; the draft waits until " + e.Until.UTC().Format("2 January 2006")
	}
	p.Rows = append(p.Rows, [2]string{"next", next})
	return p
}

func (e *Error) quoted(l BadLine) string {
	if e.Unquoted || l.Text == "" {
		return ""
	}
	return guard.Line(l.Text, shownText) + "      "
}

var quotation = pattern.Lazy(`"(?:[^"\\]|\\.)*"`)

// reason returns a line's reason with the suggested command. If Unquoted is set, quoted words are left out.
func (e *Error) reason(l BadLine) string {
	switch {
	case e.Unquoted:
		return quotation().ReplaceAllString(l.Reason, "the word there")
	case l.Meant != "":
		return l.Reason + "; did you mean " + guard.Line(l.Meant, shownMeant) + "?"
	}
	return l.Reason
}

func (e *Error) next() string {
	switch {
	case e.Next != "":
		return e.Next
	case len(e.Lines) > 1:
		return "correct the lines and decide again"
	case len(e.Lines) == 0 || e.Lines[0].Line == 0:
		return "correct the text and decide again"
	}
	return "correct the line and decide again"
}
