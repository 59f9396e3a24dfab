package aggregate

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// mergeRules makes one finding of what a model and a rule say of one line: the model's
// words, with the rule's unchanged behind them and the graver severity. A credential or
// hidden characters stay the rule's to tell. It merges what nothing held back, so
// that no answer of a model can take a rule's finding along; where the rule's was said
// before, the model's other wording of it was too.
func mergeRules(all []*entry) {
	rules := map[string][]*entry{}
	for _, f := range all {
		if f.Source == finding.Rule {
			rules[f.Path] = append(rules[f.Path], f)
		}
	}
	for _, f := range all {
		if f.Source != finding.Model || f.Filtered != "" {
			continue
		}
		for _, rule := range rules[f.Path] {
			if rule.by == nil && sameDefect(rule.Finding, f.Finding) {
				merge(rule, f)
			}
		}
	}
}

// merge makes one of a rule's finding and a model's, which is kept and said by no other yet.
func merge(rule, model *entry) {
	switch {
	case model.Filtered != "" || rule.Filtered == finding.Repeat:
	case rule.Filtered != "" && rule.Filtered != finding.LeftOut:
		model.Filtered, model.Note = rule.Filtered, rule.Note
	case warns(rule.Finding):
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
		rule.by = model
	}
}
