package aggregate

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// maxLinted is how many findings of linters a draft shows, whatever their rules.
const maxLinted = 100

// markLinters holds back of linters' findings what a finding that is shown says too,
// which then names the linter, and what is beyond a rule's share. It holds back no
// other finding (T40). of is filled as markRepeats fills it.
func markLinters(all []finding.Finding, of []int, perRule int) {
	for i, f := range all {
		if f.Source != finding.Linter || f.Filtered != "" {
			continue
		}
		if by := saidBy(all, i); by >= 0 {
			of[i], all[by].Also = by, append(all[by].Also, f.Origin.Name(f.Rule))
			all[i].Filtered, all[i].Note = finding.Repeat, fmt.Sprintf("said by the finding at line %d", all[by].Line)
		}
	}
	shown, ofRule := 0, map[string]int{}
	for _, f := range all { // what an earlier draft showed counts, so that pushes do not add up
		if f.Source == finding.Linter && f.Filtered != "" && f.Filtered != finding.Repeat &&
			f.Filtered != finding.LeftOut {
			ofRule[f.Origin.Name(f.Rule)]++
		}
	}
	for i, f := range all {
		if f.Source != finding.Linter || f.Filtered != "" {
			continue
		}
		name := f.Origin.Name(f.Rule)
		switch {
		case ofRule[name] >= perRule:
			all[i].Filtered, all[i].Note = finding.Capped, fmt.Sprintf("beyond the %d of a rule", perRule)
		case shown >= maxLinted:
			all[i].Filtered, all[i].Note = finding.Capped, fmt.Sprintf("beyond the %d of a draft", maxLinted)
		default:
			ofRule[name]++
			shown++
		}
	}
}

// saidBy is the finding that is shown and says what a linter's says, or -1: of the same
// line, in words that mean the same or with the rule's name. Of two linters' the first
// one says it.
func saidBy(all []finding.Finding, i int) int {
	f := all[i]
	mine := claimOf(f.Title, f.Quote)
	for by, other := range all {
		if other.Filtered != "" || other.Path != f.Path || !overlap(other, f) || by == i ||
			other.Source == finding.Linter && by > i || f.Severity.Rank() > other.Severity.Rank()+1 {
			continue
		}
		if sameClaim(mine, claimOf(other.Title, other.Quote)) || names(other, f.Rule) {
			return by
		}
	}
	return -1
}

// shortName is the least length of a rule's name that is known again in a text.
const shortName = 5

// names reports whether a finding names a linter's rule.
func names(f finding.Finding, rule string) bool {
	return len(rule) >= shortName && f.Source != finding.Linter && strings.Contains(f.Title+" "+f.Body, rule)
}
