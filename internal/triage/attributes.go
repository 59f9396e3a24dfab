package triage

import (
	"strings"

	"github.com/org/pr-review-action/internal/config"
)

// Attributes are the linguist-generated lines of a repository's .gitattributes.
type Attributes struct{ rules []attribute }

type attribute struct {
	glob      string
	generated bool
}

// ParseAttributes reads a .gitattributes file as far as it says which files are
// generated; other lines are passed over.
func ParseAttributes(text []byte) Attributes {
	var a Attributes
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		for _, field := range fields[1:] {
			switch field {
			case "linguist-generated", "linguist-generated=true":
				a.rules = append(a.rules, attribute{fields[0], true})
			case "-linguist-generated", "linguist-generated=false":
				a.rules = append(a.rules, attribute{fields[0], false})
			}
		}
	}
	return a
}

// Generated reports what the attributes say of a path, and whether they say
// anything. The last matching line holds, as in Git.
func (a Attributes) Generated(path string) (generated, said bool) {
	for _, rule := range a.rules {
		if config.Matches([]string{rule.glob}, path) {
			generated, said = rule.generated, true
		}
	}
	return generated, said
}
