package tool

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// family is languages that define names alike. In patterns, NAME stands for the name.
type family struct {
	extensions string
	words      string   // what stands before a name that is defined, with | between
	forms      []string // other lines that define it
}

var families = []family{
	{extensions: ".go", words: "func|type|var|const", forms: []string{
		`^\tNAME(?:, \w+)*(?:\s+[\w.*\[\]]+)?\s+=`, // in a block of constants
		`^\tNAME\s+\S+(?:\s+\S+)?\s*$`,             // a field
	}},
	{extensions: ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte", words: `function\*?|class|interface|type|enum|` +
		`namespace|const|let|var`, forms: []string{
		`^\s+(?:(?:public|private|protected|static|async|readonly|get|set|override|abstract)\s+)*[*#]?NAME\s*(?:<[^>]*>)?\(.*\)\s*(?::.*)?\{\s*$`,
		`(?:^|[\s.])NAME\s*[:=]\s*(?:async\s*)?(?:function\b|\(.*=>|\w+\s*=>)`,
	}},
	{extensions: ".py .pyi", words: "def|class|type", forms: []string{
		`^NAME\s*(?::[^=]*)?=(?:[^=]|$)`, `^\s+self\.NAME\s*(?::[^=]*)?=(?:[^=]|$)`,
	}},
	{extensions: ".rb .rake", words: "def|class|module", forms: []string{`^\s*NAME\s*=(?:[^=]|$)`}},
	{extensions: ".java .kt .kts .scala .groovy .cs .swift .dart", words: "class|interface|enum|record|object|struct|trait|protocol|" +
		"fun|func|def|val|var|let|typealias|namespace|extension|actor|mixin|typedef", forms: []string{method}},
	{extensions: ".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm", words: "namespace|#\\s*define|using", forms: []string{
		`\b(?:class|struct|enum|union)\s+NAME\s*(?:[:{]|final\b|$)`, `\btypedef\b.*\bNAME\s*;`, `^\}\s*NAME\s*;`, method + `[^;]*$`,
	}},
	{extensions: ".rs", words: "fn|struct|enum|trait|type|const|static|mod|union|let|macro_rules!"},
	{extensions: ".php", words: "function|class|interface|trait|enum|const"},
	{extensions: ".sh .bash .zsh", words: "function", forms: []string{`^\s*NAME\s*\(\)`, `^\s*(?:(?:export|readonly|local|declare)\s+)?NAME=`}},
	{extensions: ".sql", words: "table|view|index|function|procedure|trigger|type|column"},
	{extensions: ".proto .graphql .thrift", words: "message|service|rpc|enum|type|input|interface|struct"},
	{words: "function|def|defp|defmodule|defmacro|class|module|type|struct|sub|fn|fun|func|let|const|var"}, // any other
}

// method matches a line on which types and modifiers stand before a name with a parenthesis.
const method = `^\s*(?:[\w:<>\[\],.*&?@~]+\s+)+[*&]*(?:\w+::)*NAME\s*(?:<[^>]*>)?\(`

// notTypes are the words that stand before a call, where method sees a type.
var notTypes = strings.Fields("return else new throw await case goto delete yield in not and or if while do assert throws emit using")

// definer gives, for a file, whether a line of it, comments and strings blanked,
// defines the name. It goes by the form of the line, so it can err.
func definer(name string) func(file string) func(line string) bool {
	known := map[string]func(string) bool{}
	return func(file string) func(string) bool {
		f := familyOf(strings.ToLower(path.Ext(file)))
		if known[f.extensions] == nil {
			known[f.extensions] = f.defines(name)
		}
		return known[f.extensions]
	}
}

func (f family) defines(name string) func(line string) bool {
	const between = `\s+(?:(?:mut|class|struct|if not exists|unique)\s+)?(?:\([^)]*\)\s*|[\w.<>*&:]*[.:*&>])?\s*`
	forms := append([]string{`(?i:(?:^|[\s(;{}@])(?:` + f.words + `))` + between + `NAME(?:\W|$)`}, f.forms...)
	pattern := strings.ReplaceAll("(?:"+strings.Join(forms, ")|(?:")+")", "NAME", regexp.QuoteMeta(name))
	match := regexp.MustCompile(pattern)
	return func(line string) bool {
		first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		return match.MatchString(line) && !slices.Contains(notTypes, first)
	}
}

func familyOf(extension string) family {
	for _, f := range families {
		if extension != "" && slices.Contains(strings.Fields(f.extensions), extension) {
			return f
		}
	}
	return families[len(families)-1]
}
