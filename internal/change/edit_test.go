package edit_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/edit"
)

func TestBlocksApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		blocks []edit.Block
		want   string
	}{
		"a line":                {"a\nb\nc\n", []edit.Block{{"b\n", "B\n"}}, "a\nB\nc\n"},
		"within a line":         {"x = 1 + 2\n", []edit.Block{{"1 + 2", "3"}}, "x = 3\n"},
		"two, in any order":     {"a\nb\nc\n", []edit.Block{{"c", "C"}, {"a", "A"}}, "A\nb\nC\n"},
		"deletes":               {"a\nb\nc\n", []edit.Block{{"b\n", ""}}, "a\nc\n"},
		"white space at ends":   {"a  \nb\t\nc\n", []edit.Block{{"a\nb", "x"}}, "x\nc\n"},
		"CR LF stays":           {"a\r\nb\r\nc\r\n", []edit.Block{{"b\nc", "x\ny"}}, "a\r\nx\r\ny\r\n"},
		"CR LF of loose lines":  {"a \r\nb\r\n", []edit.Block{{"a\n", "x"}}, "x\r\nb\r\n"},
		"no line feed at end":   {"a\nb", []edit.Block{{"b", "c"}}, "a\nc"},
		"loose, no line feed":   {"a \nb ", []edit.Block{{"a\nb", "c"}}, "c"},
		"nothing to apply":      {"a\n", nil, "a\n"},
		"what it writes is new": {"a\nb\n", []edit.Block{{"a", "b"}, {"b", "a"}}, "b\na\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := edit.Apply(c.text, c.blocks)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestBlocksThatDoNotApplyAreNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		blocks []edit.Block
		want   string
	}{
		"missing": {"total := sum(all)\n", []edit.Block{{"total = sum(x)", "y"}},
			`edit 1: what it looks for does not stand there; the nearest line is "total := sum(all)"`},
		"twice": {"a\nb\na\n", []edit.Block{{"b", "x"}, {"a", "y"}},
			"edit 2: what it looks for stands there 2 times"},
		"overlapping":  {"aaa\n", []edit.Block{{"aa", "y"}}, "stands there 2 times"},
		"twice, loose": {"a \nb\na \nb\n", []edit.Block{{"a\nb", "y"}}, "stands there 2 times"},
		"the same line": {"a b\n", []edit.Block{{"a b", "x"}, {"b", "y"}},
			"edit 2: it changes lines that another edit changes"},
		"nothing": {"a\n", []edit.Block{{" \n", "y"}}, "edit 1: it looks for nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := edit.Apply(c.text, c.blocks)
			require.ErrorContains(t, err, c.want)
			require.Empty(t, got)
		})
	}
}

func TestGoIsParsedAndFormatted(t *testing.T) {
	t.Parallel()
	got, err := edit.Settle("a.go", "", "package a\nfunc f( ) {\nx()\n}\n")
	require.NoError(t, err)
	require.Equal(t, "package a\n\nfunc f() {\n\tx()\n}\n", got)
	got, err = edit.Settle("a.go", "package  a\n", "package  a\nvar x  = 1\n")
	require.NoError(t, err)
	require.Equal(t, "package  a\nvar x  = 1\n", got, "a file that was not formatted stays as it is")
	_, err = edit.Settle("a.go", "package a\n", "package a\nfunc {\n")
	require.ErrorContains(t, err, "it does not parse afterwards: a.go:2:6")
	got, err = edit.Settle("a.py", "", "def f( :")
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
		got, err := edit.Apply(text, []edit.Block{{search, replace}})
		if err != nil {
			require.Empty(t, got)
			require.Less(t, len(err.Error()), 2000)
			return
		}
		if utf8.ValidString(text) && utf8.ValidString(replace) {
			require.True(t, utf8.ValidString(got) || !utf8.ValidString(search))
		}
		if !strings.Contains(text, "\r\n") && strings.Contains(text, search) {
			require.Equal(t, strings.Replace(text, search, replace, 1), got)
		}
		require.LessOrEqual(t, len(got), len(text)+2*len(replace)+2)
	})
}
