package lang

import (
	"regexp"
	"slices"
	"strings"
)

// forms is how lines look that define a name. In lines, NAME stands for the name.
type forms struct {
	words string   // what stands before a name that is defined, with | between
	lines []string // other lines that define it
}

var (
	goForms = forms{"func|type|var|const", []string{
		`^\tNAME(?:, \w+)*(?:\s+[\w.*\[\]]+)?\s+=`, // in a block of constants
		`^\tNAME\s+\S+(?:\s+\S+)?\s*$`,             // a field
	}}
	scriptForms = forms{`function\*?|class|interface|type|enum|namespace|const|let|var`, []string{
		`^\s+(?:(?:public|private|protected|static|async|readonly|get|set|override|abstract)\s+)*[*#]?NAME\s*` +
			`(?:<[^>]*>)?\(.*\)\s*(?::.*)?\{\s*$`,
		`(?:^|[\s.])NAME\s*[:=]\s*(?:async\s*)?(?:function\b|\(.*=>|\w+\s*=>)`,
	}}
	pythonForms = forms{"def|class|type", []string{
		`^NAME\s*(?::[^=]*)?=(?:[^=]|$)`, `^\s+self\.NAME\s*(?::[^=]*)?=(?:[^=]|$)`,
	}}
	rubyForms  = forms{"def|class|module", []string{`^\s*NAME\s*=(?:[^=]|$)`}}
	classForms = forms{"class|interface|enum|record|object|struct|trait|protocol|" +
		"fun|func|def|val|var|let|typealias|namespace|extension|actor|mixin|typedef", []string{method}}
	cForms = forms{"namespace|#\\s*define|using", []string{
		`\b(?:class|struct|enum|union)\s+NAME\s*(?:[:{]|final\b|$)`, `\btypedef\b.*\bNAME\s*;`, `^\}\s*NAME\s*;`,
		method + `[^;]*$`,
	}}
	shellForms = forms{"function", []string{
		`^\s*NAME\s*\(\)`, `^\s*(?:(?:export|readonly|local|declare)\s+)?NAME=`,
	}}
	messageForms = forms{words: "message|service|rpc|enum|type|input|interface|struct"}
	anyForms     = forms{words: "function|def|defp|defmodule|defmacro|class|module|type|struct|sub|fn|fun|" +
		"func|let|const|var"}
)

// method matches a line on which types and modifiers stand before a name with a parenthesis.
const method = `^\s*(?:[\w:<>\[\],.*&?@~]+\s+)+[*&]*(?:\w+::)*NAME\s*(?:<[^>]*>)?\(`

// notTypes are the words that stand before a call, where method sees a type.
var notTypes = strings.Fields("return else new throw await case goto delete yield in not and or if while do assert " +
	"throws emit using")

func (f forms) defines(name string) func(line string) bool {
	const between = `\s+(?:(?:mut|class|struct|if not exists|unique)\s+)?(?:\([^)]*\)\s*|[\w.<>*&:]*[.:*&>])?\s*`
	lines := append([]string{`(?i:(?:^|[\s(;{}@])(?:` + f.words + `))` + between + `NAME(?:\W|$)`}, f.lines...)
	source := strings.ReplaceAll("(?:"+strings.Join(lines, ")|(?:")+")", "NAME", regexp.QuoteMeta(name))
	match := regexp.MustCompile(source)
	return func(line string) bool {
		first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		return match.MatchString(line) && !slices.Contains(notTypes, first)
	}
}
