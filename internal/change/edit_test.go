package change_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/change"
)

func TestBlocksApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		edits []change.Edit
		want  string
	}{
		"a line":            {"a\nb\nc\n", []change.Edit{{"b\n", "B\n"}}, "a\nB\nc\n"},
		"within a line":     {"x = 1 + 2\n", []change.Edit{{"1 + 2", "3"}}, "x = 3\n"},
		"two, in any order": {"a\nb\nc\n", []change.Edit{{"c", "C"}, {"a", "A"}}, "A\nb\nC\n"},
		"deletes":           {"a\nb\nc\n", []change.Edit{{"b\n", ""}}, "a\nc\n"},
		"behind an escape": {"say(\"a\\nName: %dms\")\n", []change.Edit{{"Name: ", "N: "}, {"ms\"", " ms\""}},
			"say(\"a\\nN: %d ms\")\n"},
		"of a script without spaces": {"// 设置重试次数为三次\n", []change.Edit{{"重试次数", "上限"}}, "// 设置上限为三次\n"},
		"CR LF stays":                {"a\r\nb\r\nc\r\n", []change.Edit{{"b\nc", "x\ny"}}, "a\r\nx\r\ny\r\n"},
		"lines that end in both ways": {"a\r\nb\nc\nd\n", []change.Edit{{"b\nc", "x\ny"}, {"a", "A"}},
			"A\r\nx\ny\nd\n"},
		"lines that end in both ways, as they are": {"a\r\nb\r\nc\n", []change.Edit{{"a\r\nb\r\n", "x\r\n"}},
			"x\r\nc\n"},
		"CR LF in the block":                 {"a\nb\nc\n", []change.Edit{{"a\r\nb", "x\r\ny"}}, "x\ny\nc\n"},
		"a byte order mark":                  {"\ufeffa\nb\n", []change.Edit{{"\ufeffa\n", "x\n"}}, "\ufeffx\nb\n"},
		"no line feed at end":                {"a\nb", []change.Edit{{"b", "c"}}, "a\nc"},
		"nothing to apply":                   {"a\n", nil, "a\n"},
		"a line feed in search alone":        {"a\nb\nc\n", []change.Edit{{"b\n", "B"}}, "a\nB\nc\n"},
		"the last line feed goes":            {"a\nb\n", []change.Edit{{"b\n", "B"}}, "a\nB"},
		"the end of a line":                  {"a # old\nb\n", []change.Edit{{" # old\n", ""}}, "a\nb\n"},
		"a line goes, without its line feed": {"a\n\tb\nc\n", []change.Edit{{"\tb", ""}}, "a\nc\n"},
		"a line goes, without its indentation": {"a\r\n\tb\r\n\r\nc\r\n", []change.Edit{{"b", ""}},
			"a\r\n\r\nc\r\n"},
		"a line that goes before an empty one": {"a\nb\n\nc\n", []change.Edit{{"b\n", ""}}, "a\n\nc\n"},
		"an empty line that is written":        {"a\nb\nc\n", []change.Edit{{"b", "B\n"}}, "a\nB\n\nc\n"},
		"indentation in replace alone": {"if a {\n\tb\n\tc\n}\n", []change.Edit{{"b\n\tc", "\tx\n\ty"}},
			"if a {\n\tx\n\ty\n}\n"},
		"indentation in neither": {"if a {\n\tb\n}\n", []change.Edit{{"b", "x"}}, "if a {\n\tx\n}\n"},
		"what it writes is new":  {"a\nb\n", []change.Edit{{"a", "b"}, {"b", "a"}}, "b\na\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := change.Apply(c.text, c.edits)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestBlocksThatDoNotApplyAreNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		edits []change.Edit
		want  string
	}{
		"missing": {"total := sum(all)\n", []change.Edit{{"total = sum(x)", "y"}},
			`edit 1: what it looks for is not there: "total = sum(x)"; this line of it is nowhere in the file: ` +
				`"total = sum(x)"`},
		"missing from a line on": {"a {\n\tb()\n}\n", []change.Edit{{"a {\n    b()\n}\n", "y"}},
			`edit 1: what it looks for is not there: "a {\n    b()\n}\n", but this, with other white space: "a {\n\tb()\n}"`},
		"a no-break space": {"a\nb\u00a01\nc\n", []change.Edit{{"b 1\n", "y"}},
			`"b 1\n", but this, with other white space: "b\u00a01"`},
		"an empty line too few": {"x a\n\nb c\n", []change.Edit{{"a\nb", "y"}}, `white space: "x a\n\nb c"`},
		"lines left out": {"a\nb\nc\n", []change.Edit{{"a\n...\nc\n", "y"}},
			`; this line of it is nowhere in the file: "..."`},
		"lines of two places": {"a\nb\nc\n", []change.Edit{{"a\nc\n", "y"}},
			"; the file has its lines, but not one after the other"},
		"several": {"a\nb\n", []change.Edit{{"x", "1"}, {"a", "2"}, {"y", "3"}},
			`nowhere in the file: "x"; edit 3: what it looks for is not there: "y"`},
		"indented otherwise": {"\ta()\n", []change.Edit{{"  a()\n", "y"}},
			`edit 1: what it looks for is not there: "  a()\n"`},
		"across two kinds of line ends": {"a\r\nb\nc\n", []change.Edit{{"a\nb\n", "x\ny\n"}},
			`edit 1: what it looks for is not there: "a\nb\n"`},
		"twice": {"a\nb\na\n", []change.Edit{{"b", "x"}, {"a", "y"}},
			"edit 2: what it looks for is there more than once"},
		"overlapping": {"aaa\n", []change.Edit{{"aa", "y"}}, "is there more than once"},
		"the same line": {"a b\n", []change.Edit{{"a b", "x"}, {"b", "y"}},
			"edit 2: it changes lines that another edit changes"},
		"a longer number": {"n = 10\n", []change.Edit{{"n = 1", "n = 2"}},
			`edit 1: what it looks for is there only as a part of longer words: "n = 1"`},
		"a longer name": {"do {\n\tsum(a)\n}\n", []change.Edit{{"o {\n\tsum(a)\n}\n", "y"}},
			`edit 1: what it looks for is there only as a part of longer words: "o {\n\tsum(a)\n}\n"`},
		"a longer name of other letters": {"größe\n", []change.Edit{{"gr", "y"}}, "as a part of longer words"},
		"nothing":                        {"a\n", []change.Edit{{" \n", "y"}}, "edit 1: it looks for nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := change.Apply(c.text, c.edits)
			require.ErrorContains(t, err, c.want)
			require.Empty(t, got)
		})
	}
}

func TestGoIsParsedAndFormatted(t *testing.T) {
	t.Parallel()
	got, err := change.Format("a.go", "", "package a\nfunc f( ) {\nx()\n}\n")
	require.NoError(t, err)
	require.Equal(t, "package a\n\nfunc f() {\n\tx()\n}\n", got)
	got, err = change.Format("a.go", "package  a\n", "package  a\nvar x  = 1\n")
	require.NoError(t, err)
	require.Equal(t, "package  a\nvar x  = 1\n", got, "a file that was not formatted stays as it is")
	_, err = change.Format("a.go", "package a\n", "package a\nfunc {\n")
	require.ErrorContains(t, err, "it does not parse afterwards: a.go:2:6")
	got, err = change.Format("a.py", "", "def f( :")
	require.NoError(t, err)
	require.Equal(t, "def f( :", got)
}

// FuzzApply holds that a text is either left alone, with an error, or has the new lines
// where the old ones stood and nothing else changed.
func FuzzApply(f *testing.F) {
	f.Add("a\nb\nc\n", "b", "x")
	f.Add("a \r\nb\r\n", "a\nb", "x\ny")
	f.Add("aaa", "aa", "")
	f.Add("a\n\n\nb", "\n\n", "z")
	f.Fuzz(func(t *testing.T, text, search, replace string) {
		got, err := change.Apply(text, []change.Edit{{search, replace}})
		if err != nil {
			require.Empty(t, got)
			require.Less(t, len(err.Error()), 4000)
			return
		}
		if utf8.ValidString(text) && utf8.ValidString(replace) {
			require.True(t, utf8.ValidString(got) || !utf8.ValidString(search))
		}
		if want := strings.Replace(text, search, replace, 1); strings.Contains(text, search) {
			visible := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, "\ufeff", "")), "") }
			require.Equal(t, visible(want), visible(got))
			ends := strings.HasSuffix(search, "\n") == strings.HasSuffix(replace, "\n")
			if !strings.Contains(want, "\r\n") && ends && strings.TrimLeft(replace, " \t\n\v\f\r\u0085\u00a0") == replace &&
				replace != "" {
				require.Equal(t, want, got)
			}
		}
		require.LessOrEqual(t, len(got), len(text)+2*len(replace)+2)
	})
}

// TestANewTextKeepsTheFilesForm rewrites a file as a whole.
func TestANewTextKeepsTheFilesForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{"a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"}, {"a\nb\n", "x\r\n", "x\n"}, {"\ufeffa\n", "x\n", "\ufeffx\n"},
		{"\ufeffa\r\n", "\ufeffx\r\ny\n", "\ufeffx\r\ny\r\n"}, {"a", "x\n", "x\n"}, {"", "x\r\n", "x\r\n"},
	} {
		require.Equal(t, c.want, change.Like(c.before, c.after))
	}
}
