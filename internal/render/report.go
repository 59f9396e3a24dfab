package render

import (
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// unreported counts what the settings leave out: "12 below minor left out, 1 blocker of
// other categories left out". It is empty where they leave out nothing. What is not below
// the line is taken for a matter of category or rule: the filter says no more.
func (r Review) unreported() string {
	var others []finding.Finding
	weak := 0
	for _, f := range r.Filtered {
		switch {
		case f.Filtered != finding.LeftOut:
		case f.Severity.Rank() < r.From.Rank():
			weak++
		default:
			others = append(others, f)
		}
	}
	var parts []string
	if weak > 0 {
		parts = append(parts, Thousands(int64(weak))+" below "+string(r.From)+" left out")
	}
	if len(others) > 0 {
		parts = append(parts, finding.Counts(others)+" of other categories or rules left out")
	}
	return strings.Join(parts, ", ")
}
