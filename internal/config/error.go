package config

import (
	"fmt"

	"github.com/org/pr-review-action/internal/problem"
)

// Error is one thing wrong with a settings file, and where.
type Error struct {
	File         string
	Line, Column int
	What         string
	Hint         string // the nearest known name, or empty
}

// Error gives file:line:column and what is wrong, and the hint on a line of its own.
func (e *Error) Error() string { return e.Problem().Error() }

// Problem says so, as a mistake of whoever wrote the file.
func (e *Error) Problem() *problem.Error {
	p := &problem.Error{Kind: problem.Misuse, What: fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)}
	if e.Hint != "" {
		p.Rows = [][2]string{{"", fmt.Sprintf("did you mean %q?", e.Hint)}}
	}
	return p
}
