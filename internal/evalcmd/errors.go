package evalcmd

import "github.com/org/pr-review-action/internal/render"

// UsageError reports a mistake in flags or in the files that they name.
type UsageError struct{ error }

// Unwrap is the mistake.
func (e UsageError) Unwrap() error { return e.error }

// SpentError reports a run that ended for money.
type SpentError struct{ error }

// Unwrap says where it ended.
func (e SpentError) Unwrap() error { return e.error }

func usageError(what, next string) error { return UsageError{problem(what, "", next)} }

// problem is an error of three parts: what was wrong, where, what to do next.
// The last two may be empty.
func problem(what, where, next string) error {
	p := &render.Problem{What: what}
	for _, row := range [][2]string{{"where", where}, {"next", next}} {
		if row[1] != "" {
			p.Rows = append(p.Rows, row)
		}
	}
	return p
}
