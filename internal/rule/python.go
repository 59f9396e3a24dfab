package rule

import (
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

const mutable = `(?:\[\]|\{\}|(?:list|dict|set)\(\))`

var defaultInLine = lazy(`\bdef\s+\w+\(.*\b(\w+)\s*(?::[^=]+)?=\s*` + mutable + `\s*[,)]`)
var defaultOnOwnLine = lazy(`^(\w+)\s*(?::[^=]+)?=\s*` + mutable + `,?$`)

var mutableDefault = rule{
	name: "py-mutable-default", category: "correctness", severity: finding.Minor,
	title: "All calls share one default for `{}`",
	body:  "The default is made once, when the function is defined: what one call adds, the next one sees. Take `None` and make a new one inside.",
	find: in{python: each(func(h *hunk, i int) (hit, bool) {
		m := defaultInLine().FindStringSubmatch(h.codeAt(i))
		if m == nil && inSignature(h, i) {
			m = defaultOnOwnLine().FindStringSubmatch(h.codeAt(i))
		}
		return hit{subject: last(m)}, m != nil
	})},
}

// inSignature reports whether line i is a parameter on a line of its own.
func inSignature(h *hunk, i int) bool {
	for j := i - 1; j >= max(0, i-reach); j-- {
		code := strings.TrimPrefix(h.codeAt(j), "async ")
		if strings.HasPrefix(code, "def ") {
			return strings.HasSuffix(code, "(") || strings.HasSuffix(code, ",")
		}
		if code != "" && !strings.HasSuffix(code, ",") {
			return false
		}
	}
	return false
}

var identityWithLiteral = rule{
	name: "py-identity-with-literal", category: "correctness", severity: finding.Major,
	title: "`is` compares identity, not the value",
	body:  "Equal strings and numbers need not be one object, so the answer depends on the interpreter. Use `==` or `!=`.",
	find:  in{python: inCode(`\b(?:if|elif|while|and|or|not|return|=)\s*\(?[\w.\[\]]+\s+is\s+(?:not\s+)?(?:["']|-?\d|\[\]|\{\}|\(\))`)},
}

var unsafeLoad = rule{
	name: "unsafe-load", category: "security", severity: finding.Major,
	title: "Unsafe deserialization: loading this data can run code",
	body:  "The format can name any Python object to construct. Read it with a loader for plain data, such as `yaml.safe_load` or `json.loads`.",
	find: in{python: replaced(`\byaml\.load\(([\w.()]+)\)`, "yaml.safe_load($1)",
		inCode(`\byaml\.(?:load|load_all)\([^,]+(?:\)|,\s*(?:Loader\s*=\s*)?yaml\.(?:Unsafe|Full)?Loader)`+
			`|\bpickle\.loads?\(\s*(?:request|req|sock|conn|resp|response|body|payload|message|data_from)\b`))},
}

var assertTuple = rule{
	name: "py-assert-tuple", category: "correctness", severity: finding.Major,
	title:   "This assertion can never fail",
	body:    "Condition and message in one pair of parentheses are a tuple, and a tuple that is not empty counts as true.",
	inTests: unchanged,
	find:    in{python: inCode(`^\s*assert\s*\([^()]+,\s*f?["'][^()]*\)\s*$`)},
}
