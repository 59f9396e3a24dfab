package rule

import (
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// sqlFromStrings finds values in the text of an SQL statement. A hit is a blocker if the
// hunk shows that a caller sent the value.
var sqlFromStrings = rule{
	name: "sql-from-strings", category: "security", severity: finding.Major,
	title: "SQL injection: the value of `{}` becomes part of the statement",
	body:  "Anyone who controls the value can change what the statement does. Pass it as a query parameter instead.",
	find:  in{golang: findSQL, typescript: findSQL, python: findSQL, java: findSQL},
}

// valuePlace matches the SQL before a value, not before a name.
const valuePlace = `(?is)(?:(?:[=<>]\s*|\blike\s+|\bvalues\s*\(\s*)['"]?%*|[(,]\s*'%*)`

var (
	sqlStart = lazy(`(?s)^\s*(?:(?:SELECT\b.+\bFROM\b|INSERT\s+INTO\b|UPDATE\s+\S+\s+SET\b|DELETE\s+FROM\b)` +
		`|(?:select\b.+\bfrom\b|insert\s+into\b|update\s+\S+\s+set\b|delete\s+from\b))`)
	sqlCall      = lazy(`(?i)query|exec|sql|cursor|\bdb\b|stmt|statement|prepare`)
	valueEnd     = lazy(valuePlace + `$`)
	valueVerb    = lazy(strings.ReplaceAll(valuePlace, `%*`, ``) + `(?:%%)*%[sv]`)
	valueBrace   = lazy(valuePlace + `\$?\{([^{}]*)\}`)
	valueDollar  = lazy(valuePlace + `\$\{([^{}]*)\}`)
	plusOperand  = lazy(`^\s*\+\s*([A-Za-z_][\w.]*(?:\([^()]*\)|\[[^\[\]]*\])*)`)
	plusLiteral  = lazy(`^\s*\+?\s*(?:[A-Za-z_][\w.\[\]()]*\s*\+\s*)?$`)
	sprintfStart = lazy(`(?:\bSprintf|String\.format)\(\s*$`)
	formatted    = lazy(`^\s*(?:%\s*[\w(]|\.(?:format|formatted)\()`)
	harmless     = lazy(`(?i)^(?:strconv\.|(?:int|float|bool|len)\b|Number\(|parseInt|String\.valueOf|Integer\.` +
		`|Long\.|(?:\w+\.)*\w*(?:escape|quote|placeholder|bind|table|column)|` +
		`(?:\w+\.)*\w*(?:db|database|schema|catalog|keyspace)(?:_?name)?$)|^(?-i:(?:\w+\.)*[A-Z][A-Z0-9_]+$)`)
	wholeList = lazy(`(?i)values\s*\(\s*\$?\{\s*(\w+)\s*\}\s*\)`)
	operand   = lazy(`^[\w.]+(?:\([^()]*\))?`)
	quoteless = lazy(`\.toISOString\(\)|\.(?:getTime|size|length|count)\(\)$|\.(?:Unix|Len)\w*\(\)$`)
	number    = lazy(`(?m)\b(?:long|int|Long|Integer|short|double|float|boolean)\s+(\w+)` +
		`|\b(\w+)\??(?::\s*(?:number|int|float` +
		`|bool)\b|[ \t]+u?int(?:8|16|32|64)?[ \t]*(?:[,)=]|$))`)
	words = lazy(`\b(?:String|CharSequence|Object)\s+(\w+)` +
		`|\b(\w+)\??(?::\s*(?:str|string|any|unknown)\b|\s+string\b)`)
	placeholders = lazy("[\"'`](?:[?$@:]|%s)|\\$\\$\\{")
)

// findSQL returns, for each statement, its first literal with a value concatenated,
// formatted or interpolated into it.
func findSQL(h *hunk) []hit {
	if !containsAny(h.text, "SELECT", "INSERT", "UPDATE", "DELETE", "select", "insert", "update", "delete") {
		return nil
	}
	var hits []hit
	for _, parts := range h.joinedLiterals() {
		if !h.isSQL(parts) {
			continue
		}
		for _, l := range parts {
			expression, offset := h.embeddedValue(l)
			if expression == "" {
				continue
			}
			at := h.callerHit(expression, h.lineAt(offset))
			if at.severity == finding.Blocker ||
				!harmless().MatchString(expression) && !h.cannotQuote(expression, offset) {
				hits = append(hits, at)
				break
			}
		}
	}
	return hits
}

// cannotQuote reports whether the value of an expression cannot contain a quote: a date in ISO
// format, an unquoted ID, a name last declared as a number.
func (h *hunk) cannotQuote(expression string, offset int) bool {
	quoted := strings.HasSuffix(strings.TrimRight(h.text[:offset], "${"), "'")
	if quoteless().MatchString(expression) || !quoted && strings.HasSuffix(expression, ".getId()") {
		return true
	}
	name := identifier().FindString(expression)
	above := h.code[:offset]
	return name == expression && lastDeclared(number(), above, name) > lastDeclared(words(), above, name)
}

// lastDeclared returns where a pattern's group last matches a name, or -1.
func lastDeclared(pattern *regexp.Regexp, code, name string) int {
	last := -1
	for _, at := range pattern.FindAllStringSubmatchIndex(code, -1) {
		for g := 2; g < len(at); g += 2 {
			if at[g] >= 0 && code[at[g]:at[g+1]] == name {
				last = at[0]
			}
		}
	}
	return last
}

// joinedLiterals returns the hunk's literals, grouped if they are concatenated with at most a name in between.
func (h *hunk) joinedLiterals() [][]literal {
	var all [][]literal
	end := -1
	for _, l := range h.literals {
		if end >= 0 && l.opening >= end && l.opening-end < 200 && concatenates(h.code[end:l.opening]) {
			all[len(all)-1] = append(all[len(all)-1], l)
		} else {
			all = append(all, []literal{l})
		}
		end = l.closing()
	}
	return all
}

// concatenates reports whether the code between two literals concatenates them.
func concatenates(between string) bool {
	between = strings.TrimSpace(between)
	return between == "" || strings.HasSuffix(between, "+") && plusLiteral().MatchString(between)
}

// isSQL reports whether literals form a statement. A tagged template passes its values apart from
// the text. Prose may begin with "select" in lower case, so a query must have a call nearby.
func (h *hunk) isSQL(parts []literal) bool {
	first := parts[0]
	var text strings.Builder
	for _, l := range parts {
		text.WriteString(h.text[l.start:l.end])
	}
	if !sqlStart().MatchString(text.String()) || first.quote == "`" && first.prefix != "" {
		return false
	}
	i := h.lineAt(first.opening)
	above := h.codeAbove(i)
	return strings.TrimSpace(text.String())[0] < 'a' || sqlCall().MatchString(h.lines[i].code) ||
		continuesOnNextLine(above) && sqlCall().MatchString(above) || sqlCall().MatchString(h.codeAt(h.nextCode(i)))
}

// boundLater reports whether the only insertion is one list on line i, which mostly holds
// placeholders, unless the hunk shows otherwise.
func (h *hunk) boundLater(text string, i int) bool {
	at := wholeList().FindStringSubmatchIndex(text)
	if at == nil || at[0] != 0 {
		return false
	}
	list := h.assignedValue(text[at[2]:at[3]], i)
	return list == "" || placeholders().MatchString(list)
}

// embeddedValue returns the expression whose value ends up in the literal, and its offset, or "".
func (h *hunk) embeddedValue(l literal) (expression string, offset int) {
	text := h.text[l.start:l.end]
	before := h.code[max(0, l.opening-40):l.opening]
	after := h.code[l.closing():min(len(h.code), l.closing()+300)]
	if m := plusOperand().FindStringSubmatch(after); m != nil && valueEnd().MatchString(text) {
		return m[1], l.end
	}
	isFormat := formatted().MatchString(after)
	if at := valueVerb().FindStringIndex(text); at != nil && (isFormat || sprintfStart().MatchString(before)) {
		return argument(after, len(verbs().FindAllString(text[:at[1]], -1))-1), l.end
	}
	interpolates := h.language == typescript && l.quote == "`" || h.language == python &&
		strings.ContainsAny(l.prefix, "fF")
	m := valueBrace().FindStringSubmatchIndex(text)
	if m != nil && h.language == typescript && text[m[2]-2] != '$' {
		m = valueDollar().FindStringSubmatchIndex(text) // a brace without a dollar sign names a parameter
	}
	if m != nil && (interpolates || isFormat) && !h.boundLater(text[m[0]:], h.lineAt(l.start+m[2])) {
		return lastNonEmpty([]string{"a field", text[m[2]:m[3]]}), l.start + m[2]
	}
	return "", 0
}

// argument returns the n-th argument after a format, from 0, or the first name there.
func argument(after string, n int) string {
	list := strings.TrimLeft(strings.TrimPrefix(strings.TrimSpace(after), ".formatted"), "%,( \t\n")
	open := 0
	for i, c := range list {
		switch {
		case strings.ContainsRune("([{", c):
			open++
		case strings.ContainsRune(")]}", c):
			open--
		case c == ',' && open == 0:
			n--
		case n == 0 && c > ' ':
			return lastNonEmpty([]string{list[i:], operand().FindString(list[i:])})
		}
		if open < 0 {
			break
		}
	}
	return identifier().FindString(list)
}
