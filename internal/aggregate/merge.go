package aggregate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// mergeRules makes one finding of what a model and a rule say of one line: the model's
// words, with the rule's unchanged behind them and the graver severity. A credential or
// hidden characters stay the rule's to tell. It merges what nothing held back, so
// that no answer of a model can take a rule's finding along; where the rule's was said
// before, the model's other wording of it was too. It returns the findings in their
// order, and for each the index of the one that says it, or -1.
func mergeRules(all []finding.Finding) ([]finding.Finding, []int) {
	of := slices.Repeat([]int{-1}, len(all))
	rules := map[string][]int{}
	for i, f := range all {
		if f.Source == finding.Rule {
			rules[f.Path] = append(rules[f.Path], i)
		}
	}
	for m, f := range all {
		if f.Source != finding.Model || f.Filtered != "" {
			continue
		}
		for _, r := range rules[f.Path] {
			if of[r] < 0 && sameDefect(all[r], f) {
				merge(all, r, m, of)
			}
		}
	}
	return inOrder(all, of)
}

// merge makes one of a rule's finding and a model's, which is kept; all[m] is said by
// no other yet.
func merge(all []finding.Finding, r, m int, of []int) {
	rule, model := &all[r], &all[m]
	switch {
	case model.Filtered != "" || rule.Filtered == finding.Repeat:
	case rule.Filtered != "" && rule.Filtered != finding.LeftOut:
		model.Filtered, model.Note = rule.Filtered, rule.Note
	case warns(*rule):
		model.Filtered, model.Note = finding.Duplicate, fmt.Sprintf("a rule says it of line %d", rule.Line)
		rule.Also = []string{string(finding.Model)}
	default:
		if rule.Severity.Rank() > model.Severity.Rank() {
			model.Severity = rule.Severity
		}
		model.Also = append(model.Also, rule.Rule)
		if model.RuleText == "" {
			model.RuleText = strings.TrimSuffix(rule.Title, ".") + ". " + rule.Body
		}
		rule.Filtered, rule.Note = finding.Repeat, fmt.Sprintf("said by the finding at line %d", model.Line)
		of[r] = m
	}
}

// inOrder sorts findings again, whose severity may have risen, and their links with them.
func inOrder(all []finding.Finding, of []int) ([]finding.Finding, []int) {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return finding.Compare(all[a], all[b]) })
	at, sorted, links := make([]int, len(all)), make([]finding.Finding, len(all)), make([]int, len(all))
	for to, from := range order {
		at[from], sorted[to] = to, all[from]
	}
	for to, from := range order {
		if links[to] = -1; of[from] >= 0 {
			links[to] = at[of[from]]
		}
	}
	return sorted, links
}
