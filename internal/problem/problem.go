// Package problem represents an error as a person reads it: what was wrong, where, and what
// to do next.
//
// A package makes an Error if it knows all three, and a Sentinel if callers must recognize it.
// Of converts any other error. Start reading at Error.
package problem

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/guard"
)

// Kind is what an error means for whoever started the program.
type Kind int

// The kinds; the zero value is Failed.
const (
	Failed  Kind = iota // the run did not do what it was started for
	Misuse              // the command line, the inputs or the settings are wrong
	Refused             // a resume check or the decision refused: nothing was posted
	Spent               // the budget is spent
)

// Error is what was wrong, where, and what to do next. All of it may quote untrusted text;
// the method Error makes it printable.
type Error struct {
	Kind    Kind
	Check   int         // the number of the resume check that refused, or 0
	What    string      // one sentence
	Rows    [][2]string // label ("where", "next", "draft", "line 2") and text; a label may be empty
	Expired bool        // the draft was not decided in time
}

const maxLine = 1000 // characters of one line

// Error returns the message: a line for What and one for each row.
func (e *Error) Error() string {
	width := 6
	for _, row := range e.Rows {
		width = max(width, utf8.RuneCountInString(guard.Line(row[0], maxLine)))
	}
	var b strings.Builder
	b.WriteString(guard.Line(e.What, maxLine))
	for _, row := range e.Rows {
		b.WriteString("\n  ")
		if label := guard.Line(row[0], maxLine); label != "" {
			b.WriteString(label + strings.Repeat(" ", width-utf8.RuneCountInString(label)+2))
		}
		b.WriteString(guard.Line(row[1], maxLine))
	}
	return b.String()
}

// Problem returns e, so that Of finds it.
func (e *Error) Problem() *Error { return e }

// New returns a failure. Where and next may be empty.
func New(what, where, next string) *Error { return newError(Failed, what, next, At(where)) }

// Usage returns a Misuse: a mistake in flags, inputs or settings. Next may be empty.
func Usage(what, next string, rows ...[2]string) *Error { return newError(Misuse, what, next, rows...) }

// Refuse returns the refusal of a resume check.
func Refuse(check int, what, next string, rows ...[2]string) *Error {
	e := newError(Refused, what, next, rows...)
	e.Check = check
	return e
}

// At returns the row that says where.
func At(where string) [2]string { return [2]string{"where", where} }

// newError returns an Error without rows that have no text.
func newError(kind Kind, what, next string, rows ...[2]string) *Error {
	rows = slices.DeleteFunc(append(rows, [2]string{"next", next}), func(row [2]string) bool { return row[1] == "" })
	return &Error{Kind: kind, What: what, Rows: rows}
}

// As returns err with another kind, and with next as its next step unless next is empty.
func As(kind Kind, err error, next string) error { return marked{err, kind, next} }

type marked struct {
	error
	kind Kind
	next string
}

// Unwrap returns the error that was marked.
func (m marked) Unwrap() error { return m.error }

// Next returns what to do about it.
func (m marked) Next() string { return m.next }

// Check returns the number of the resume check that refused, or 0.
func Check(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Check
	}
	return 0
}
