package lang

import (
	"regexp"
	"strings"
	"sync"
)

// What is not code: comments and strings. A quote that no other one closes is
// code; what may go on over lines is closed by the end of the text, too.
const (
	slashComment = `//.*|/\*(?s:.*?)(?:\*/|\z)`
	hashComment  = `(?m:(?:^|[ \t;])#.*$)`
	tripleDouble = `"""(?s:\\.|[^\\])*?(?:"""|\z)`
	tripleSingle = `'''(?s:\\.|[^\\])*?(?:'''|\z)`
	double       = `"(?:(?s:\\.)|[^"\\\n])*"`
	single       = `'(?:(?s:\\.)|[^'\\\n])*'`
	character    = `'(?:\\[^\n]{1,10}?|[^'\\\n])'`
	template     = "`(?s:\\\\.|[^`\\\\])*(?:`|\\z)"
	rawString    = "`[^`]*(?:`|\\z)"
)

var (
	goText     = anyOf(slashComment, double, character, rawString)
	slashText  = anyOf(slashComment, tripleDouble, double, character)
	scriptText = anyOf(slashComment, double, single, template)
	phpText    = anyOf(slashComment, hashComment, double, single)
	pythonText = anyOf(`#.*`, tripleDouble, tripleSingle, double, single)
	hashText   = anyOf(hashComment, double, single)
	shellText  = anyOf(hashComment, double, `'[^'\n]*'`)
	dashText   = anyOf(`--.*`, double, single)
)

// pattern is an expression, compiled when it is first needed: most runs read few
// languages.
type pattern struct {
	source   string
	compiled func() *regexp.Regexp
}

func anyOf(alternatives ...string) pattern {
	source := strings.Join(alternatives, "|")
	return pattern{source, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })}
}

// NotCode is an expression that matches comments and strings; empty where all
// text is code.
func (l Language) NotCode() string { return l.notCode.source }

// Blank overwrites comments and strings with spaces, line breaks kept, byte for
// byte as long. A string with a brace or a dollar stays: there may be code in it.
func (l Language) Blank(text string) string {
	if l.notCode.compiled == nil {
		return text
	}
	out := []byte(text)
	for _, at := range l.notCode.compiled().FindAllStringIndex(text, -1) {
		part := text[at[0]:at[1]]
		if strings.IndexByte("\"'`", part[0]) >= 0 && strings.ContainsAny(part, "{$") {
			continue
		}
		for i := at[0]; i < at[1]; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	return string(out)
}
