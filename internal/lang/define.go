package lang

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// forms matches lines that define a name.
type forms struct {
	source  string // of an expression in which NAME is the placeholder for the name
	anyName func() *regexp.Regexp
}

// formsOf returns forms for words, separated by |, that precede a defined name, and for other patterns of such
// lines.
func formsOf(words string, lines ...string) forms {
	const between = `\s+(?:(?:mut|class|struct|if not exists|unique)\s+)?(?:\([^)]*\)\s*|[\w.<>*&:]*[.:*&>])?\s*`
	lines = append([]string{`(?i:(?:^|[\s(;{}@])(?:` + words + `))` + between + `NAME(?:\W|$)`}, lines...)
	f := forms{source: "(?:" + strings.Join(lines, ")|(?:") + ")"}
	f.anyName = f.with(".*")
	return f
}

var (
	goForms = formsOf("func|type|var|const",
		`^\tNAME(?:, \w+)*(?:\s+[\w.*\[\]]+)?\s+=`, // in a block of constants
		`^\tNAME(?:\s+\S+(?:\s+\S+)?\s*)?$`,        // a field, or a further constant of a block
	)
	scriptForms = formsOf(`function\*?|class|interface|type|enum|namespace|const|let|var`,
		`^\s+(?:(?:public|private|protected|static|async|readonly|get|set|override|abstract)\s+)*[*#]?NAME\s*`+
			`(?:<[^>]*>)?\(.*\)\s*(?::.*)?\{\s*$`,
		`^\s+(?:(?:public|private|protected|static|readonly|declare|override|abstract)\s+)*#?NAME[?!]?\s*:.*;\s*$`,
		`(?:^|[\s.])NAME\s*[:=]\s*(?:async\s*)?(?:function\b|\(.*=>|\w+\s*=>)`,
	)
	pythonForms = formsOf("def|class|type",
		`^NAME\s*(?::[^=]*)?=(?:[^=]|$)`, `^\s+self\.NAME\s*(?::[^=]*)?=(?:[^=]|$)`,
	)
	rubyForms  = formsOf("def|class|module", `^\s*NAME\s*=(?:[^=>~]|$)`)
	classForms = formsOf("class|interface|enum|record|object|struct|trait|protocol|"+
		"fun|func|def|val|var|let|typealias|namespace|extension|actor|mixin|typedef", method,
		`^\s*(?:(?:public|private|protected|internal|static|readonly|final|const)\s+)+[\w.<>\[\],? ]+\s`+
			`NAME\s*(?:[;={]|$)`)
	cForms = formsOf("namespace|#\\s*define|using",
		`\b(?:class|struct|enum|union)\s+NAME\s*(?:[:{]|final\b|$)`, `\btypedef\b.*\bNAME\s*;`, `^\}\s*NAME\s*;`,
		method+`[^;]*$`,
	)
	shellForms = formsOf("function",
		`^\s*NAME\s*\(\)`, `^\s*(?:(?:export|readonly|local|declare)\s+)?NAME=`,
	)
	messageForms = formsOf("message|service|rpc|enum|type|input|interface|struct")
	anyForms     = formsOf("function|def|defp|defmodule|defmacro|class|module|type|struct|sub|fn|fun|" +
		"func|let|const|var")
)

// method matches a line with types and modifiers before a name and a parenthesis.
const method = `^\s*(?:[\w:<>\[\],.*&?@~]+\s+)+[*&]*(?:\w+::)*NAME\s*(?:<[^>]*>)?\(`

// notTypes are the words that precede a call, where method would see a type.
var notTypes = strings.Fields("return else new throw await case goto delete yield in not and or if while do assert " +
	"throws emit using")

// defines matches a line against any name first, so that the expression for one name is compiled only if the line
// defines something.
func (f forms) defines(name string) func(line string) bool {
	match := f.with(regexp.QuoteMeta(name))
	return func(line string) bool {
		first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		return strings.Contains(line, name) && f.anyName().MatchString(line) && match().MatchString(line) &&
			!slices.Contains(notTypes, first)
	}
}

// with returns a function that compiles the forms, on first use, for names matching an expression.
func (f forms) with(names string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(strings.ReplaceAll(f.source, "NAME", names))
	})
}
