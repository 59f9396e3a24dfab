package aggregate

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// maxLinted is how many findings of linters a draft shows, whatever their rules.
const maxLinted = 100

// markLinters holds back of linters' findings what a finding that is shown says too, which then names the linter, and
// what is beyond a rule's share. It holds back no other finding (T40).
func markLinters(all []*entry, perRule int) {
	for i, f := range all {
		if f.Source != finding.Linter || f.Filtered != "" {
			continue
		}
		if f.by = saidBy(all, i); f.by != nil {
			f.by.Also = append(f.by.Also, f.Origin.Name(f.Rule))
			f.Filtered, f.Note = finding.Repeat, fmt.Sprintf("said by the finding at line %d", f.by.Line)
		}
	}
	shown, ofRule := 0, map[string]int{}
	for _, f := range all { // what an earlier draft showed counts, so that pushes do not add up
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

// saidBy is the finding that is shown and says what a linter's says, or nil: of the same line, in words that mean the
// same or with the rule's name. Of two linters' the first one says it.
func saidBy(all []*entry, i int) *entry {
	f := all[i]
	mine := claimOf(f.Title, f.Quote)
	for by, other := range all {
		if other.Filtered != "" || other.Path != f.Path || !overlap(other, f) || by == i ||
			other.Source == finding.Linter && by > i || f.Severity.Rank() > other.Severity.Rank()+1 {
			continue
		}
		named := len(f.Rule) >= shortName && other.Source != finding.Linter &&
			strings.Contains(other.Title+" "+other.Body, f.Rule)
		if named || sameClaim(mine, claimOf(other.Title, other.Quote)) {
			return other
		}
	}
	return nil
}

// shortName is the least length of a rule's name that is known again in a text.
const shortName = 5
