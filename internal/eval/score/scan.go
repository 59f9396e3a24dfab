package score

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/finding"
)

// The bounds of a scan. An answer of the reviewer's model is no longer, and one
// with more than 100 findings is refused; further ones are not counted.
const (
	maxText   = 2 << 20 // bytes
	maxClaims = 1_000
	maxTitle  = 400 // characters
	maxLine   = 10_000_000
)

// claim is a finding as an answer holds it, as far as it can be read.
type claim struct {
	title       string // on one line
	start, line int    // 0 for none
	severity    finding.Severity
}

// member fits a member of a finding that tells it from others. What is quoted inside a
// text has its quotes escaped and does not fit. A value that is no whole text is taken as it begins.
var member = regexp.MustCompile(`"(title|line|start_line|severity)"\s*:\s*("(?:[^"\\]|\\.)*"|[^",}\s]*)`)

// scan reads the findings out of an answer, whatever else is wrong with it, also where it
// was cut off. A finding begins where a member stands for the second time, and has a title
// or a line. What stands before a list of findings is none.
func scan(text string) (found []claim) {
	var c claim
	var has map[string]bool
	end := func() {
		if c.start == 0 || c.start > c.line {
			c.start = c.line
		}
		if has["title"] || has["line"] {
			found = append(found, c)
		}
		c, has = claim{}, map[string]bool{}
	}
	end()
	text = text[:min(len(text), maxText)]
	if _, list, ok := strings.Cut(text, `"findings"`); ok {
		text = list
	}
	for _, m := range member.FindAllStringSubmatch(text, 4*maxClaims) {
		if has[m[1]] {
			end()
		}
		has[m[1]] = true
		c.set(m[1], m[2])
	}
	end()
	return found[:min(len(found), maxClaims)]
}

// set takes in the value of a member, a text or a number.
func (c *claim) set(key, value string) {
	if strings.HasPrefix(value, `"`) {
		text, _ := jsontext.AppendUnquote(nil, value) // of a broken one, what can be read
		value = string(text)
	}
	switch key {
	case "title":
		c.title = oneLine(clip(value))
	case "line":
		c.line = lineNumber(value)
	case "start_line":
		c.start = lineNumber(value)
	case "severity":
		c.severity, _ = finding.ParseSeverity(value)
	}
}

// lineNumber reads a line number, 0 for what is none.
func lineNumber(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > maxLine {
		return 0
	}
	return n
}

func clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxTitle {
			return s[:i]
		}
	}
	return s
}
