package settings

import "github.com/org/pr-review-action/internal/render"

// Mistake marks an error as one of who called the program: in flags, inputs,
// variables or the settings file. It ends with exit code 2.
type Mistake struct{ Err error }

func (m Mistake) Error() string { return m.Err.Error() }

func (m Mistake) Unwrap() error { return m.Err }

// Wrong makes a Mistake of what is wrong and what to do next, which may be empty.
func Wrong(what, next string) error {
	p := &render.Problem{What: what}
	if next != "" {
		p.Rows = [][2]string{{"next", next}}
	}
	return Mistake{p}
}
