package rule

import (
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// sqlFromStrings finds values between the quotes of an SQL statement on one line, and in Go and Python compared
// without quotes, where the language or a caller makes them text. A hit is a blocker if the hunk shows that a caller sent it.
var sqlFromStrings = rule{
	name: "sql-from-strings", category: "security", severity: finding.Major,
	title: "SQL injection: the value of `{}` becomes part of the statement",
	body: "Whoever controls that value can change what the statement does. Pass it as a parameter of the query " +
		"instead.",
	find: in{
		golang:     valueInSQL(concatenated + `|"` + compared + operand + `|\bSprintf\(\s*` + formatted + `",\s*(.+)`),
		java:       valueInSQL(concatenated + `|\bString\.format\(\s*` + formatted + `",\s*(.+)`),
		typescript: valueInSQL(concatenated + "|`" + sqlText + `\$\{([^{}]*)\}`),
		python: valueInSQL(concatenated + `|\b[fF]"` + compared + `\{([^{}]*)\}|\b[fF]"` + sqlText + `\{([^{}]*)\}|` + formatted + `"\s*%\s*\(?(.+)|"` +
			sqlText + `\{[^{}]*\}[^"]*"\.format\((.+)`),
	},
}

// An SQL statement up to a quote that a value follows, by concatenation or in a format.
const (
	sqlText = `\s*(?:(?:SELECT\b.+\bFROM|INSERT\s+INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM)\b` +
		`|(?:select\b.+\bfrom|insert\s+into|update\s+\S+\s+set|delete\s+from)\b)[^"` + "`" + `]*'%*`
	operand      = `"\s*\+\s*([^\s+,;)]+\)?)`
	concatenated = `"` + sqlText + operand
	formatted    = `"` + sqlText + `%s[^"]*`

	// up to a comparison with a value without quotes, in capitals, since prose may compare as well
	compared = `\s*(?:SELECT\b.+\bFROM|INSERT\s+INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM)\b[^"` + "`" + `]*[=<>]\s*`
)

var (
	sqlWords = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "select", "insert", "update", "delete"}
	harmless = lazy(`(?i)^(?:\w+\.)*\w*(?:escape|quote|placeholder|bind|table|column|database|schema|dbName)` +
		`|^(?:strconv\.|int\(|float\(|Number\(|parseInt|Integer\.|Long\.)|\.toISOString\(\)` +
		`|^(?-i:(?:\w+\.)*[A-Z][A-Z0-9_]+)$`)
)

// valueInSQL finds lines with an expression that has the value, or the arguments of a format, in a group.
func valueInSQL(expr string) finder {
	re := lazy(expr)
	return ifContains(eachAdded(func(h *hunk, i int) (hit, bool) {
		value := firstArgument(lastNonEmpty(groupsOf(re(), h.lines[i])))
		at := h.callerHit(value, i)
		return at, value != "" && (at.severity == finding.Blocker || !harmless().MatchString(value))
	}), sqlWords...)
}

// groupsOf returns the groups of the first match that begins in code, without the whole match.
func groupsOf(re *regexp.Regexp, l line) []string {
	groups := matchInCode(re, l)
	return groups[min(1, len(groups)):]
}

// firstArgument returns the first of the arguments of a call, or the only value.
func firstArgument(list string) string {
	value, _, _ := strings.Cut(strings.TrimSpace(list), ",")
	for strings.Count(value, "(") < strings.Count(value, ")") {
		value = value[:strings.LastIndexByte(value, ')')]
	}
	return strings.TrimRight(value, "; ")
}
