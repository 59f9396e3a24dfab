package prompt

import (
	"fmt"
	"strings"
)

// Piece is some whole lines of the new tree that the diff does not show, of the
// changed file or of another one.
type Piece struct {
	Path      string
	StartLine int    // from 1
	Why       string // what it is to the change: encloses, calls, defines, tests, similar
	Text      string
}

// EndLine is the number of the last line.
func (p Piece) EndLine() int {
	return p.StartLine + strings.Count(strings.TrimSuffix(p.Text, "\n"), "\n")
}

// reasons say in words what a piece is to the change.
var reasons = map[string]string{
	"encloses": "the change stands in it", "calls": "it uses what is changed",
	"defines": "it defines what the change uses", "tests": "a test that touches what is changed",
	"similar": "a search for the change found it",
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
