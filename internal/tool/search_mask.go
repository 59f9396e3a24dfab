package tool

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	slashComment = `//.*|/\*(?s:.*?)(?:\*/|\z)`
	hashComment  = `(?m:(?:^|[ \t;])#.*$)`
	triple       = `"""(?s:.*?)(?:"""|\z)|'''(?s:.*?)(?:'''|\z)`
	double       = `"(?:\\.|[^"\\\n])*"`
	single       = `'(?:\\.|[^'\\\n])*'`
	character    = `'(?:\\[^\n]{1,10}?|[^'\\\n])'`
	backtick     = "`(?:(?s:\\\\.)|[^`\\\\])*`"
	rawString    = "`[^`]*`"
)

// masks has what is not code, by the extensions of languages. A quote that no
// other one closes is code.
var masks = []struct {
	extensions string
	pattern    func() *regexp.Regexp
}{
	{".go", anyOf(slashComment, double, character, rawString)},
	{".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .java .kt .kts .scala .cs .swift .rs .proto", anyOf(slashComment, triple, double, character)},
	{".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte .dart .groovy", anyOf(slashComment, double, single, backtick)},
	{".php", anyOf(slashComment, hashComment, double, single)},
	{".py .pyi", anyOf(hashComment, triple, double, single)},
	{".rb .rake .sh .bash .zsh .yml .yaml .toml .tf .hcl .graphql", anyOf(hashComment, double, single)},
	{".sql .lua", anyOf(`--.*`, double, single)},
}

// anyOf is compiled when it is first needed: most runs search in few languages.
func anyOf(patterns ...string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(patterns, "|")) })
}

// blankText overwrites comments and strings with spaces, line breaks kept. A
// string with a brace or a dollar stays: there may be code in it. Text of an
// unknown language is all code.
func blankText(file, text string) string {
	extension := strings.ToLower(path.Ext(file))
	for _, m := range masks {
		if extension == "" || !slices.Contains(strings.Fields(m.extensions), extension) {
			continue
		}
		out := []byte(text)
		for _, at := range m.pattern().FindAllStringIndex(text, -1) {
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
	return text
}
