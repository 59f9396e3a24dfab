package suggest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/suggest"
)

// check is what happens to a suggestion for lines of a file that the change adds
// whole, but for its first line.
func check(t *testing.T, path, head string, start, line int, suggestion string) finding.Finding {
	t.Helper()
	first, _, _ := strings.Cut(head, "\n")
	patch, _, _ := diff.Between(first+"\nold\n", head)
	shown, err := diff.NewAnchors(patch)
	require.NoError(t, err)
	f := finding.Finding{Path: path, Side: finding.Right, StartLine: start, Line: line, Suggestion: suggestion}
	return suggest.New(path, shown, []byte(head)).Check(f)
}

const code = "package a\n\nfunc f() error {\n\tif g() {\n\t\treturn nil\n\t}\n\treturn h()\n}\n"

// The words by which a reason is told.
const (
	parse       = "would not parse"
	spaces      = "mixes tabs and spaces"
	indentation = "its indentation"
	unseen      = "invisible characters"
	utf8        = "not in UTF-8"
	repeats     = "repeats the line above or below"
)

func TestASuggestionIsAppliedToTheHeadBeforeItIsOffered(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) // of which the parser makes a list, slowly
	crlf := strings.ReplaceAll(code, "\n", "\r\n")
	for name, c := range map[string]struct {
		path, head  string
		start, line int
		suggestion  string
		want, why   string // of the suggestion that is left, and of the reason
	}{
		"a line":                         {"a.go", code, 7, 7, "\treturn k()", "\treturn k()", ""},
		"a range by fewer":               {"a.go", code, 4, 6, "\tg()", "\tg()", ""},
		"a line by more":                 {"a.go", code, 7, 7, "\tg()\n\treturn k()\n", "\tg()\n\treturn k()\n", ""},
		"an empty line":                  {"a.go", code, 4, 6, "\n", "\n", ""},
		"what is there":                  {"a.go", code, 7, 7, "\treturn h()", "", ""},
		"what is there, and a line feed": {"a.go", code, 4, 6, "\tif g() {\n\t\treturn nil\n\t}\n", "", ""},
		"what is there, another ending":  {"a.go", code, 7, 7, "\treturn h()\r\n", "", ""},
		"a brace too few": {"a.go", code, 4, 6, "\tif g() {\n\t\treturn nil",
			"\tif g() {\n\t\treturn nil", parse},
		"a brace too many": {"a.go", code, 7, 7, "\treturn h()\n}", "\treturn h()\n}", parse},
		"prose": {"a.go", code, 7, 7, "Return the error of h.", "Return the error of h.",
			parse},
		"spaces for tabs": {"a.go", code, 4, 6, "    if g() {\n        return k()\n    }",
			"    if g() {\n        return k()\n    }", spaces},
		"no indentation":              {"a.go", code, 5, 5, "return k()", "\t\treturn k()", ""},
		"what is there, not indented": {"a.go", code, 5, 5, "return nil", "", ""},
		"no indentation, a range": {"a.py", "a\n  if b:\n    c()\n", 2, 3, "if d:\n  e()\n\n",
			"  if d:\n    e()\n", ""},
		"no indentation of the first line": {"a.go", code, 4, 6, "if g() {\n\t\treturn k()\n\t}",
			"\tif g() {\n\t\treturn k()\n\t}", ""},
		"no indentation of the first of two": {"a.py", "a\n  b\n  c\nd\n", 2, 3, "e(1)  # :\n  f()",
			"e(1)  # :\n  f()", indentation},
		"no indentation of what opens a block": {"a.py", "a\n  if b:\n    c()\n", 2, 3, "if d:  # e\n  e()",
			"if d:  # e\n  e()", indentation},
		"no indentation behind a comment": {"a.py", "a\n  b\nc\n", 2, 2, "\n# d\ne\n\nf", "\n  # d\n  e\n\n  f", ""},
		"no indentation of an item": {"a.yml", "a:\n  - b: c\n    d: e\n", 2, 3, "- b: f\n  d: g",
			"- b: f\n  d: g", indentation},
		"no indentation before a string of lines": {"a.go", code, 7, 7, "return k(`\na\n`)",
			"return k(`\na\n`)", indentation},
		"no indentation and a string of lines": {"a.py", "a\n  b\nc\n", 2, 2, "if d:\n  \"\"\"e\n  f\"\"\"\n  g()",
			"if d:\n  \"\"\"e\n  f\"\"\"\n  g()", indentation},
		"out of a block":               {"a.py", "for a in b:\n    c()\n    d()\ne()\n", 3, 3, "d()", "", ""},
		"out of the middle of a block": {"a.py", "for a in b:\n    c()\n    d()\n", 2, 2, "c()", "", ""},
		"out of a block of braces":     {"a.js", "if (a) {\n    c()\n}\n", 2, 2, "c()", "", ""},
		"no indentation, and meant":    {"a.py", "a\n  b\nc\n", 2, 3, "d", "d", ""},
		"a head that is not formatted": {"a.go", strings.Replace(code, "\tif", "\t  if", 1), 7, 7, "  return k()",
			"  return k()", spaces},
		"a line that moves its neighbour": {"a.go", "package a\n\nvar (\n\taaa = 1\n\tb   = 2\n)\n", 4, 4, "\tc=1",
			"\tc=1", ""},
		"a line that moves one above": {"a.go", "package a\n\nvar (\n\taaa = 1\n\tb   = 2\n)\n", 5, 5, "\tcccc=1",
			"\tcccc=1", ""},
		"with the line above": {"a.py", "a\nb = first(a)\nc = second(b)\nd = third(c)\n", 3, 3,
			"b = first(a)\nc = other(b)", "b = first(a)\nc = other(b)", repeats},
		"with the line below": {"a.py", "a\nb = first(a)\nc = second(b)\nd = third(c)\n", 2, 3,
			"b = other(a)\nd = third(c)", "b = other(a)\nd = third(c)", repeats},
		"that moves a line down": {"a.py", "a\nb = first(a)\nc = second(b)\nd = third(c)\n", 2, 3,
			"c = second(a)\nb = first(c)", "c = second(a)\nb = first(c)", ""},
		"a line that was there twice": {"a.py", "a\nb = first(a)\nb = first(a)\nd = third(c)\n", 3, 3,
			"b = first(a)\nc = other(b)", "b = first(a)\nc = other(b)", ""},
		"with the brace below":            {"a.js", "if (a) {\n    c()\n}\n", 2, 2, "    d()\n}", "    d()\n}", ""},
		"with the end below":              {"a.rb", "if a\n    c()\nend\n", 2, 2, "    d()\nend", "    d()\nend", ""},
		"with the brackets below":         {"a.txt", "a\n}, }, }, });\n", 1, 1, "b\n}, }, }, });", "b\n}, }, }, });", ""},
		"a head that does not parse":      {"a.go", code + "}\n", 7, 7, "\treturn {", "\treturn {", ""},
		"carriage returns":                {"a.go", crlf, 7, 7, "\treturn k()", "\treturn k()", "end in CRLF"},
		"carriage returns in both":        {"a.go", crlf, 4, 6, "\tg()\r\n\tk()\r\n", "\tg()\n\tk()\n", "in CRLF"},
		"carriage returns elsewhere":      {"a.txt", "a\r\nb\nc\r\n", 2, 2, "d", "d", ""},
		"a byte order mark":               {"a.txt", "\ufeffa\nb\n", 1, 1, "c", "c", unseen},
		"a byte order mark elsewhere":     {"a.txt", "\ufeffa\nb\n", 2, 2, "c", "c", ""},
		"Latin-1":                         {"a.txt", "caf\xe9\nb\n", 1, 1, "tea", "tea", utf8},
		"Latin-1 elsewhere":               {"a.txt", "caf\xe9\nb\n", 2, 2, "th\u00e9", "th\u00e9", utf8},
		"UTF-16":                          {"a.txt", "\xff\xfea\x00\n\x00b\x00\n\x00", 1, 1, "c", "c", utf8},
		"carriage returns, what is there": {"a.go", crlf, 7, 7, "\treturn h()", "", ""},
		"carriage returns, a brace less":  {"a.go", crlf, 4, 6, "\tif g() {", "\tif g() {", "in CRLF"},
		"no line feed at the end":         {"a.go", strings.TrimSuffix(code, "\n"), 8, 8, "} // f", "} // f", ""},
		"the whole file":                  {"a.json", "{\n\"a\": 1\n}", 1, 3, "{}", "{}", ""},
		"JSON":                            {"a.json", "{\n\"a\": 1\n}\n", 2, 2, `"a": 2`, `"a": 2`, ""},
		"JSON with a comma more":          {"a.json", "{\n\"a\": 1\n}\n", 2, 2, `"a": 2,`, `"a": 2,`, parse},
		"JSON with comments":              {"tsconfig.json", "{\n// x\n\"a\": 1\n}\n", 3, 3, `"a": 2,`, `"a": 2,`, ""},
		"YAML":                            {"a.yml", "a:\n  - b\n  - c\n", 2, 2, "  - d", "  - d", ""},
		"YAML with a bracket open":        {"a.YAML", "a:\n  - b\n  - c\n", 2, 2, "  - [d", "  - [d", parse},
		"YAML nested too deep":            {"a.yml", "a:\n  - b\n  - c\n", 2, 2, "  - " + deep, "  - " + deep, parse},
		"YAML of a template":              {"a.yaml", "a: {{ .b }\nc: d\n", 2, 2, "c: [", "c: [", ""},
		"TOML":                            {"a.toml", "[a]\nb = 1\n", 2, 2, "b = 2", "b = 2", ""},
		"TOML with half a string":         {"a.toml", "[a]\nb = 1\n", 2, 2, `b = "2`, `b = "2`, parse},
		"no parser":                       {"a.py", "a\nif b:\n    c()\n", 3, 3, "    d(", "    d(", ""},
		"tabs for spaces":                 {"a.py", "a\nif b:\n    c()\n", 3, 3, "\td()", "\td()", spaces},
		"spaces in a recipe":              {"Makefile", "a:\n\tb\n\tc\n", 3, 3, "    d", "    d", spaces},
		"a hidden character":              {"a.py", "a\nb\n", 2, 2, "c\u202e", "c\u202e", unseen},
		"a hidden one in what it changes": {"a.py", "a\nb\u200b\n", 2, 2, "c", "c", unseen},
		"a carriage return in a line":     {"a.py", "a\nb\rc\n", 2, 2, "d", "d", unseen},
		"what a redacted line had": {"a.py", "a\nb\n", 2, 2, `k = "<redacted github-pat>"`,
			`k = "<redacted github-pat>"`, "in full"},
		"the middle of a line": {"a.py", "a\nb\n", 2, 2, "x<… 1234 bytes left out …>y",
			"x<… 1234 bytes left out …>y", "in full"},
		"lines that are not in the diff": {"a.go", code, 7, 70, "x", "x", "in the diff"},
		"lines that run backwards":       {"a.go", code, 7, 6, "x", "x", "in the diff"},
		"no lines":                       {"a.go", code, 0, 0, "x", "x", "in the diff"},
		"nothing":                        {"a.go", code, 7, 7, "", "", ""},
	} {
		got := check(t, c.path, c.head, c.start, c.line, c.suggestion)
		require.Equal(t, c.want, got.Suggestion, name)
		if c.why == "" {
			require.Empty(t, got.SuggestionProblem, name)
			continue
		}
		require.Contains(t, got.SuggestionProblem, c.why, name)
	}
}

func TestDeletedLinesTakeNoSuggestion(t *testing.T) {
	t.Parallel()
	shown, err := diff.NewAnchors("@@ -1 +1 @@\n-a\n+b")
	require.NoError(t, err)
	f := finding.Finding{Side: finding.Left, StartLine: 1, Line: 1, Suggestion: "c"}
	require.Contains(t, suggest.New("a.go", shown, nil).Check(f).SuggestionProblem, "deletes")
}

func TestAReasonStays(t *testing.T) {
	t.Parallel()
	shown, err := diff.NewAnchors("@@ -1 +1 @@\n-a\n+b")
	require.NoError(t, err)
	f := finding.Finding{Side: finding.Right, StartLine: 1, Line: 1, Suggestion: "c",
		SuggestionProblem: "so it was decided"}
	require.Equal(t, f, suggest.New("a.go", shown, nil).Check(f))
}

func TestAHeadThatIsNotWhatTheDiffShowsTakesNone(t *testing.T) {
	t.Parallel()
	shown, err := diff.NewAnchors("@@ -1,2 +1,2 @@\n a\n-b\n+k = \"<redacted github-pat>\"")
	require.NoError(t, err)
	f := finding.Finding{Side: finding.Right, Line: 2, Suggestion: "c"}
	for _, head := range []string{"a\nk = \"ghp_1\"\n", "a", "", "\n\n\n"} {
		require.Contains(t, suggest.New("a.py", shown, []byte(head)).Check(f).SuggestionProblem, "as the file has them",
			"%q", head)
	}
	require.Contains(t, suggest.New("a.py", shown, nil).Check(f).SuggestionProblem, "in full",
		"the diff alone tells it too")
}

func FuzzCheck(f *testing.F) {
	for i, path := range []string{"a.go", "a.json", "a.yml", "a.toml", "a"} {
		f.Add(path, code, i, 7, "\treturn k()\r\n")
	}
	text, err := os.ReadFile("suggest.go")
	require.NoError(f, err)
	f.Add("suggest.go", string(text), 30, 31, "x")
	f.Fuzz(func(t *testing.T, path, head string, start, line int, suggestion string) {
		patch, _, _ := diff.Between("", head)
		shown, err := diff.NewAnchors(patch)
		require.NoError(t, err)
		file := suggest.New(path, shown, []byte(head))
		once := file.Check(finding.Finding{Side: finding.Right, StartLine: start, Line: line, Suggestion: suggestion})
		require.Equal(t, once, file.Check(once), "a second look changes nothing")
	})
}
