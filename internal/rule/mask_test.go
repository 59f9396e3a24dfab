package rule

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
)

func TestMaskLeavesCodeAndFillsTheRest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		lang language
		text string
		want string // ~ for the filler
	}{
		{"line comment", golang, "a() // b()", "a()       "},
		{"escaped quote", golang, `a("\"b") + c`, `a("~~~") + c`},
		{"raw string over lines", golang, "a(`b\nc`) + d", "a(`~\n~`) + d"},
		{"block comment over lines", java, "a /* b\nc */ d", "a     \n     d"},
		{"middle of a comment begun above", java, " * uses a()\n */\nb()", "           \n   \nb()"},
		{"apostrophe in text ends with its line", typescript, "<p>don't</p>\na()", "<p>don't</p>\na()"},
		{"template with an expression", typescript, "`a ${b} c` + d", "`~~~~~~~~` + d"},
		{"template over lines", typescript, "`a\nb` + d", "`~\n~` + d"},
		{"quote that nothing closes", typescript, `a(/'/) + "b"`, `a(/'/) + "~"`},
		{"raw string that the hunk ends in", golang, "a(`b\nc", "a(`~\n~"},
		{"expansion that is no comment", shell, "a ${b#c} # d", "a ${b#c}    "},
		{"division", typescript, "a / b / 'c'", "a / b / '~'"},
		{"hash in a string", python, `a("#b") # c`, `a("~~")    `},
		{"docstring", python, "\"\"\"a\nb\"\"\"\nc", "\"\"\"~\n~\"\"\"\nc"},
		{"docstring begun above", python, "a\n\"\"\"\nb()", " \n   \nb()"},
		{"length is no comment", shell, "a $# # b", "a $#    "},
		{"expansion in a string is code", shell, `a "$b" '$c'`, `a "$b" '~~'`},
		{"unknown language", "", `a "b" // c`, `a "b" // c`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _ := mask(c.text, c.lang)
			require.Equal(t, c.want, strings.ReplaceAll(got, string(filler), "~"))
		})
	}
}

func FuzzReviewTakesAnyText(f *testing.F) {
	for _, s := range []string{"`${`${`", "'''", `"""`, "/*", "*/", "x = f\"{a\"", "`${'}'}`", "/[/]", "\\", "a('\\",
		"SELECT a FROM b WHERE c = '${d", "x(`SELECT a FROM b WHERE c = '${d", `"""SELECT a FROM b WHERE c = {d`,
		"rm -rf $a/", "<<<<<<< a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(strings.ReplaceAll(text, "\r", ""), "\n")
		for _, path := range []string{"a.go", "a.ts", "a.py", "A.java", "a.sh", "a.txt"} {
			code, literals := mask(text, languageOf(path))
			require.Len(t, code, len(text))
			for _, l := range literals {
				require.True(t, 0 <= l.opening && l.opening < l.start && l.start <= l.end && l.closing() <= len(text))
			}
			for _, found := range Review(diff.File{Path: path, Patch: allAdded(lines)}) {
				require.True(t, 1 <= found.Line && found.Line <= len(lines))
			}
		}
	})
}
