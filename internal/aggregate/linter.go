package aggregate

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// maxLinted is the number of linters' findings that a draft shows, over all rules.
const maxLinted = 100

// markLinters filters linters' findings that a shown finding also reports, which then names the linter, and those
// beyond a rule's limit. It filters no other finding (T40).
func markLinters(all []*entry, perRule int) {
	for i, f := range all {
		if f.Source != finding.Linter || f.Filtered != "" {
			continue
		}
		if f.filteredBy = reportedBy(all, i); f.filteredBy != nil {
			f.filteredBy.Also = append(f.filteredBy.Also, f.Origin.Name(f.Rule))
			f.Filtered, f.Note = finding.Repeat, fmt.Sprintf("said by the finding at line %d", f.filteredBy.Line)
		}
	}
	shown, ofRule := 0, map[string]int{}
	for _, f := range all { // earlier drafts count, so that pushes do not add up
		if f.Source == finding.Linter && f.Filtered != "" && f.Filtered != finding.Repeat &&
			f.Filtered != finding.LeftOut {
			ofRule[f.Origin.Name(f.Rule)]++
		}
	}
	for _, f := range all {
		if f.Source != finding.Linter || f.Filtered != "" {
			continue
		}
		name := f.Origin.Name(f.Rule)
		switch {
		case ofRule[name] >= perRule:
			f.Filtered, f.Note = finding.Capped, fmt.Sprintf("beyond the %d of a rule", perRule)
		case shown >= maxLinted:
			f.Filtered, f.Note = finding.Capped, fmt.Sprintf("beyond the %d of a draft", maxLinted)
		default:
			ofRule[name]++
			shown++
		}
	}
}

// reportedBy returns the shown finding that reports the same as a linter's, or nil: on the same line, in words of the
// same meaning or with the rule's name. Between two linters' findings the first wins.
func reportedBy(all []*entry, i int) *entry {
	f := all[i]
	mine := wordingOf(f.Title, f.Quote)
	for by, other := range all {
		if other.Filtered != "" || other.Path != f.Path || !overlap(other, f) || by == i ||
			other.Source == finding.Linter && by > i || f.Severity.Rank() > other.Severity.Rank()+1 {
			continue
		}
		named := len(f.Rule) >= shortName && other.Source != finding.Linter &&
			strings.Contains(other.Title+" "+other.Body, f.Rule)
		if named || sameClaim(mine, wordingOf(other.Title, other.Quote)) {
			return other
		}
	}
	return nil
}

// shortName is the minimum length of a rule's name that is recognized in a text.
const shortName = 5
