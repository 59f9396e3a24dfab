package marker

import (
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pattern"
)

// Named is what a review's marker says about a posted finding besides its fingerprint.
type Named struct {
	ID       string           // such as F1; empty if unknown
	Severity finding.Severity // as it was posted; empty if unknown
	Listed   bool             // the finding with this id lists its line
}

var namedForm = pattern.Lazy(`^(0|[1-9][0-9]{0,5})([bMmn?])(\+?)$`)

// severityLetters are the severities' letters, weakest first: M is major, m minor.
const severityLetters = "nmMb"

// String returns "7b" for the blocker F7, and "7b+" for a line that it lists; 0 and ? mean
// unknown.
func (n Named) String() string {
	text := "?"
	if rank := n.Severity.Rank(); rank >= 0 {
		text = severityLetters[rank : rank+1]
	}
	if n.Listed {
		text += "+"
	}
	if number := strings.TrimPrefix(n.ID, "F"); namedForm().MatchString(number + text) {
		return number + text
	}
	return "0" + text
}

func parseNamed(text string) (n Named, ok bool) {
	found := namedForm().FindStringSubmatch(text)
	if found == nil {
		return n, false
	}
	if found[1] != "0" {
		n.ID = "F" + found[1]
	}
	if rank := strings.Index(severityLetters, found[2]); rank >= 0 {
		n.Severity = finding.Severities()[rank]
	}
	n.Listed = found[3] != ""
	return n, true
}
