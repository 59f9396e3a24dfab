package rule

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

var mustWork = lazy(`^(?:(?:json|xml|yaml|toml|proto)\.Unmarshal|os\.(?:WriteFile|Rename|Truncate)|io\.ReadFull` +
	`|\w*(?:tx|Tx)\.Commit|(?:db|tx|conn|stmt)\.(?:Exec|ExecContext)|rows?\.Scan|\w*(?:[dD]ec|[dD]ecoder)\.Decode)$`)

// errorDropped finds bare calls of well-known functions that can fail at run time.
var errorDropped = rule{
	name: "go-error-dropped", category: "error-handling", severity: finding.Major,
	title: "The error of `{}` is dropped",
	body: "If the call fails, the code that follows works with missing or incomplete data. Return the error, or say " +
		"why it does not matter.",
	find: in{golang: eachAdded(func(h *hunk, i int) (hit, bool) {
		if strings.HasPrefix(h.codeAt(i), "_ =") || h.hasComment(i) {
			return hit{}, false // if it is dropped, then on purpose
		}
		name := statement(h, i)
		return hit{subject: name}, strings.Contains(name, ".") && mustWork().MatchString(name) && !h.isChecked(i)
	}, "(")},
}

var (
	filled = lazy(`&(\w+)\)$`)
	absent = lazy(`^if (?:_, \w+ := (\w+)\[|len\((\w+)|(\w+) == nil\b)`)
)

// isChecked reports whether the line after the call on line i checks if the value that the
// call fills is present, or whether the data were made right above.
func (h *hunk) isChecked(i int) bool {
	for j := max(0, i-2); j < i; j++ {
		if strings.Contains(h.codeAt(j), ".Marshal(") {
			return true
		}
	}
	target, question := filled().FindStringSubmatch(h.codeAt(i)), absent().FindStringSubmatch(h.codeAt(h.nextCode(i)))
	return target != nil && question != nil && slices.Contains(question[1:], target[1])
}
