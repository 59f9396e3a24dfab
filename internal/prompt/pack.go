package prompt

import (
	"fmt"
	"strings"
)

// Piece is a range of whole lines of the new tree that the diff does not show, in the changed file
// or another.
type Piece struct {
	Path      string
	StartLine int    // 1-based
	Why       string // its relation to the change: encloses, calls, defines, tests, similar, cited
	Text      string
}

// EndLine returns the number of the last line.
func (p Piece) EndLine() int {
	return p.StartLine + strings.Count(strings.TrimSuffix(p.Text, "\n"), "\n")
}

// reasons describe a piece's relation to the change.
var reasons = map[string]string{
	"encloses": "the change stands in it", "calls": "it uses what is changed",
	"defines": "it defines what the change uses", "tests": "a test that touches what is changed",
	"similar": "it mentions what is changed, or is similar", "cited": "a finding names it",
}

func pack(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		lines := strings.Split(strings.TrimSuffix(p.Text, "\n"), "\n")
		fmt.Fprintf(&b, "@@ %s lines %d-%d: %s\n", shorten(strings.ReplaceAll(p.Path, "\n", "?")), p.StartLine,
			p.EndLine(), reasons[p.Why])
		for i, line := range lines {
			fmt.Fprintf(&b, "%6d   %s\n", p.StartLine+i, shorten(strings.TrimSuffix(line, "\r")))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
