package triage

import (
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pattern"
)

// Attributes are the lines of a repository's .gitattributes that say what need not be read.
type Attributes struct{ rules []attribute }

type attribute struct {
	glob   string
	reason finding.Reason
	is     bool
}

// said is what an attribute says of a file. That it is vendored speaks of statistics alone:
// projects say so of scripts and of everything; that it is not is taken for what it says.
var said = map[string]attribute{
	"linguist-generated":      {reason: finding.Generated, is: true},
	"linguist-generated=true": {reason: finding.Generated, is: true},
	"-linguist-generated":     {reason: finding.Generated}, "linguist-generated=false": {reason: finding.Generated},
	"-linguist-vendored": {reason: finding.Vendored}, "linguist-vendored=false": {reason: finding.Vendored},
	"binary": {reason: finding.Binary, is: true}, "-diff": {reason: finding.Binary, is: true},
}

// ParseAttributes reads a .gitattributes file as far as it says which files are generated
// or no text, or are not, or are not vendored; other lines are passed over. That a file is
// vendored keeps it out of a language's statistics alone.
func ParseAttributes(text []byte) Attributes {
	var a Attributes
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		for _, field := range fields[1:] {
			if rule, known := said[field]; known {
				rule.glob = fields[0]
				a.rules = append(a.rules, rule)
			}
		}
	}
	return a
}

// Say reports whether the attributes say of a path that it is generated, vendored
// or binary, and whether they say anything. The last matching line holds, as in Git.
func (a Attributes) Say(path string, reason finding.Reason) (is, said bool) {
	for _, rule := range a.rules {
		if rule.reason == reason && pattern.Matches([]string{rule.glob}, path) {
			is, said = rule.is, true
		}
	}
	return is, said
}
