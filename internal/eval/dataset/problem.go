package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
)

// Problem is one thing that is wrong with a file of cases.
type Problem struct {
	File   string // as the user named it
	Line   int    // 1-based; 1 where the whole file is meant
	ID     string // "-" where the case has none that can be read
	Reason string
}

// String is the problem as one line that is safe for a terminal:
// file:line: id: reason.
func (p Problem) String() string {
	return guard.Line(fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.ID, p.Reason), 0)
}

// Problems is the error of case files that cannot be used: everything that is
// wrong with any of them, by file and line.
type Problems struct{ List []Problem }

// Error has one line for each problem.
func (p *Problems) Error() string {
	lines := make([]string, 0, len(p.List))
	for _, one := range p.List {
		lines = append(lines, one.String())
	}
	return strings.Join(lines, "\n")
}

// sorted orders problems by file and line; those of a line keep their order.
func sorted(list []Problem) *Problems {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return &Problems{list}
}
