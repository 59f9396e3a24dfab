package triage

import (
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pattern"
)

// Attributes holds the lines of a repository's .gitattributes that exempt files from review.
type Attributes struct{ rules []attribute }

type attribute struct {
	glob   string
	reason finding.Reason
	is     bool
}

// attributeMeanings maps an attribute to what it means for a file. linguist-vendored is missing, because it is
// about statistics only: projects set it on scripts, or on everything. Its negation is taken at
// its word.
var attributeMeanings = map[string]attribute{
	"linguist-generated":      {reason: finding.Generated, is: true},
	"linguist-generated=true": {reason: finding.Generated, is: true},
	"-linguist-generated":     {reason: finding.Generated}, "linguist-generated=false": {reason: finding.Generated},
	"-linguist-vendored": {reason: finding.Vendored}, "linguist-vendored=false": {reason: finding.Vendored},
	"binary": {reason: finding.Binary, is: true}, "-diff": {reason: finding.Binary, is: true},
}

// ParseAttributes parses those lines of a .gitattributes file that say which files are generated
// or not text, or are neither, or are not vendored. It ignores other lines. That a file is
// vendored only excludes it from a language's statistics.
func ParseAttributes(text []byte) Attributes {
	var a Attributes
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		for _, field := range fields[1:] {
			if rule, known := attributeMeanings[field]; known {
				rule.glob = fields[0]
				a.rules = append(a.rules, rule)
			}
		}
	}
	return a
}

// Say reports whether the attributes call a path generated, vendored or binary, and whether they
// say anything about it. The last matching line wins, as in Git.
func (a Attributes) Say(path string, reason finding.Reason) (is, said bool) {
	for _, rule := range a.rules {
		if rule.reason == reason && pattern.Matches([]string{rule.glob}, path) {
			is, said = rule.is, true
		}
	}
	return is, said
}
