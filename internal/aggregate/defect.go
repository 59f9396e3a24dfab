package aggregate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pattern"
)

// longestRange limits the lines of a model's finding that can be about the line of a rule's.
const longestRange = 10

// sameDefect reports whether a rule and a model report the same defect: the same kind of defect on the same line, or
// the same category if one of them names no kind. If both name a kind, the category is too broad: a line may have
// two defects of one category.
func sameDefect(rule, model finding.Finding) bool {
	if rule.Side != model.Side || rule.Line < model.StartLine || rule.Line > model.Line ||
		model.Line-model.StartLine >= longestRange || rule.Placement != model.Placement {
		return false
	}
	one, other := kindsOf(rule.Title), kindsOf(model.Title)
	if foldTitle(rule.Title) == foldTitle(model.Title) {
		return true
	}
	if len(one) == 0 || len(other) == 0 {
		return rule.Category == model.Category
	}
	for kind := range one {
		if other[kind] {
			return true
		}
	}
	return false
}

// kindsOf returns the kinds of defect that a title names.
func kindsOf(title string) map[string]bool {
	found := map[string]bool{}
	for name, words := range defects {
		if words().MatchString(title) {
			found[name] = true
		}
	}
	return found
}

// defects match the kinds that a title names. No rule finds those after the blank line: they keep a model's finding
// on the same line apart from a rule's.
var defects = map[string]func() *regexp.Regexp{
	"sql": kind(`sql.{0,30}(?:inject|concat|interpolat|built|string|format)|` +
		`(?:concat|interpolat|built|format|unsanitized|untrusted|user).{0,40}\b(?:sql|query|statement)|` +
		`parameteri[sz]ed|prepared statement|injection.{0,20}(?:sql|query)`),
	"shell": kind(`(?:command|shell|code) (?:injection|execution)|arbitrary (?:command|code)|shell ?= ?true|` +
		`\b(?:built|concat|interpolat|untrusted|user|input).{0,40}\b(?:shell|command)\b`),
	"tls": kind(`\b(?:tls|ssl)\b|certificate|insecureskipverify|verify ?= ?false`),
	"secret": kind(`(?:hard-?coded|committed|embedded|leaked|plain-?text|in (?:the )?(?:source|code` +
		`|repository)).{0,40}` +
		`\b(?:credential|secret|password|passphrase|token|key)s?\b|\b(?:credential|secret|password|token` +
		`|key)s?\b.{0,40}` +
		`(?:hard-?coded|committed|in (?:the )?(?:source|code|repository|plain ?text))`),
	"error": kind(`(?:error|exception|failure|return value|result)s?\b.{0,40}(?:ignor|drop|discard|swallow|unchecked` +
		`|lost|` +
		`disappear|silen|not (?:checked|handled|returned)|never (?:checked|handled))|` +
		`(?:ignor|drop|discard|swallow|unchecked|unhandled|silen|suppress).{0,40}(?:error|exception|failure|return` +
		` value)`),
	"remove":   kind(`rm -rf|(?:empty|unset) variable|delet.{0,20}(?:everything|root)`),
	"download": kind(`(?:curl|wget|download|remote|script).{0,40}(?:\| ?(?:ba)?sh|pipe|unchecked|unverified|checksum)`),
	"conflict": kind(`conflict marker|merge conflict`),

	"path":     kind(`(?:path|directory) traversal|zip slip`),
	"web":      kind(`\bxss\b|cross-site|\bcsrf\b|\bssrf\b|open redirect`),
	"access":   kind(`authori[sz]|authenticat|permission|access control`),
	"log":      kind(`\blog(?:s|ged|ging)?\b|error message`),
	"loop":     kind(`\bloops?\b|for ?ever|endless|infinite|\bretr(?:y|ies)\b`),
	"time":     kind(`time-?out|deadline|race|deadlock|concurren`),
	"nil":      kind(`\bnil\b|\bnull\b|undefined|dereferenc|panic`),
	"resource": kind(`\bleak(?:s|ed)?\b.{0,20}(?:connection|file|handle|goroutine|memory)|never closed|not closed`),
	"crypto":   kind(`\bmd5\b|\bsha-?1\b|weak (?:hash|cipher|random)|deseriali[sz]`),
}

func kind(words string) func() *regexp.Regexp { return pattern.Lazy(`(?i)` + words) }

// mergeRules merges findings of a model and a rule on the same line: the model's words, followed by the rule's
// unchanged, with the graver severity. Credentials and hidden characters keep the rule's words. It merges only
// unfiltered findings of models, so that no model's answer can filter a rule's finding. If the rule's finding was
// reported before, so was the model's wording of it.
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
			if rule.filteredBy == nil && sameDefect(rule.Finding, f.Finding) {
				merge(rule, f)
			}
		}
	}
}

// merge merges a rule's finding with a model's, if the model's is not filtered and the rule's not merged yet.
func merge(rule, model *entry) {
	switch {
	case model.Filtered != "" || rule.Filtered == finding.Repeat:
	case rule.Filtered != "" && rule.Filtered != finding.LeftOut:
		model.Filtered, model.Note = rule.Filtered, rule.Note
	case rule.IsWarning():
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
		rule.filteredBy = model
	}
}
