package column_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/guard"
)

func TestWidthIsThatOfATerminal(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		"": 0, "abc": 3, "a\u0301b": 2, "漢字": 4, "かな": 4, "한글": 4, "ｆｕｌｌ": 8, "😀": 2,
		"👩‍👧": 2, "🇩🇪": 2, "…│█·✓": 5,
		"ä": 1,
	} {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, column.Width(s))
			require.Equal(t, want+1, column.Width(column.Pad(s, want+1)))
			require.Equal(t, s, column.Head(s, want))
			require.Equal(t, s, column.Cut(s, max(want, 1)))
		})
	}
}

func TestACutIsNotWiderThanItsWidth(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct{ cut, front string }{
		"internal/a.go": {"inter…", "…/a.go"}, "漢字漢字": {"漢字…", "…漢字"},
		"a漢字漢b":      {"a漢字…", "…字漢b"},
		"e\u0301xyz": {"e\u0301xyz", "e\u0301xyz"},
		"👩‍👧👩‍👧👩‍👧👩‍👧": {"👩‍👧👩‍👧…", "…👩‍👧👩‍👧"},
	} {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want.cut, column.Cut(s, 6))
			require.Equal(t, want.front, column.CutFront(s, 6))
			require.Empty(t, column.Cut(s, 0))
			require.Empty(t, column.CutFront(s, 0))
		})
	}
}

func TestALineIsBrokenWhereAReaderWould(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][]string{
		"":                      {""},
		"one two three":         {"one two", "three"},
		"one twoo three":        {"one twoo", "three"},
		"pr-review-action":      {"pr-revie", "w-action"},
		"    deeply indented":   {"    deep", "ly", "indented"},
		"漢字漢字漢字":                {"漢字漢字", "漢字"},
		"a 漢字漢字漢":               {"a 漢字漢", "字漢"},
		"one \u00a0two\u00a0ab": {"one", "\u00a0two\u00a0ab"},
	} {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, column.Wrap(s, 8))
			require.Equal(t, want, column.Wrap(s, 1), "8 at least")
			require.Equal(t, s, strings.Join(column.Fold(s, 8), ""))
		})
	}
}

func FuzzRowsHoldTheTextWithinTheirWidth(f *testing.F) {
	for _, s := range []string{"a b", "漢字 a\u0301", "\xff\xc3", "\x1b[31mred", "\x1b]", "👩‍👧🇩🇪",
		strings.Repeat(" ", 20), "क" + strings.Repeat("ः", 40)} {
		f.Add(s, 9)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		s, width = guard.Line(s, 0), max(8, width%200)
		require.Equal(t, s, strings.Join(column.Fold(s, width), ""))
		for _, row := range append(column.Wrap(s, width), column.Cut(s, width), column.CutFront(s, width)) {
			require.LessOrEqual(t, column.Width(row), width)
		}
		require.Equal(t, strings.ReplaceAll(s, " ", ""),
			strings.ReplaceAll(strings.Join(column.Wrap(s, width), ""), " ", ""))
	})
}
