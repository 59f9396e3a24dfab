package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
)

func TestNumberKeepsWhatIsNoPatchAndNoLineEnds(t *testing.T) {
	t.Parallel()
	require.Equal(t, "no patch", Number("no patch"))
	require.NotContains(t, Number("@@ -1 +1 @@\r\n-a\r\n+b\r\n"), "\r")
}

func TestNumberNamesFunctionsAroundHunksAndNoImports(t *testing.T) {
	t.Parallel()
	for section, want := range map[string]string{
		"func f() {": "@@ func f() {", "def importer(x):": "@@ def importer(x):", "import (": "@@",
		"package a": "@@", `require "json"`: "@@", "# include <a.h>": "@@", "use_it(f);": "@@ use_it(f);",
	} {
		require.Equal(t, want, strings.SplitN(Number("@@ -9 +9 @@ "+section+"\n-a\n+b\n"), "\n", 2)[0], section)
	}
}

func TestNumberLeavesOutTheMiddleOfLongLinesWithACount(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("x", maxLine)
	require.Contains(t, Number("@@ -0,0 +1 @@\n+"+whole), whole)
	for _, filler := range []string{"x", "é", "語", "😀", "\xff", "\x80"} {
		line := "begin" + strings.Repeat(filler, 3_000) + "end"
		got := shorten(line)
		require.LessOrEqual(t, len(got), maxLine)
		require.True(t, strings.HasPrefix(got, "begin") && strings.HasSuffix(got, "end"))
		require.Regexp(t, `<… \d+ bytes left out …>`, got)
		require.Equal(t, utf8.ValidString(line), utf8.ValidString(got), "no character is cut")
	}
}

func TestPartsAreCutBetweenHunks(t *testing.T) {
	t.Parallel()
	one, two := "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", "@@ -5,2 +5,2 @@ f\n @@ -1 +1 @@\n-c\n+d\n"
	big := "@@ -20,0 +20,9 @@\n" + strings.Repeat("+xxxxxxxxxxxxxxxxxxxxxxxx\n", 9)
	size := len(Number(one + two))
	for name, c := range map[string]struct {
		patch string
		max   int
		want  []string
	}{
		"all fits":          {one + two, size, []string{one + two}},
		"a byte too little": {one + two, size - 1, []string{one, two}},
		"one hunk too big":  {one + big, 60, []string{one, big}},
		"big one first": {big + strings.ReplaceAll(one, "1", "90"), 60,
			[]string{big, strings.ReplaceAll(one, "1", "90")}},
		"no patch":          {"prose\n@@ -1 +1 @@\n", 1, []string{"prose\n@@ -1 +1 @@\n"}},
		"empty":             {"", 1, []string{""}},
		"no last line feed": {one + strings.TrimSuffix(two, "\n"), 1, []string{one, strings.TrimSuffix(two, "\n")}},
	} {
		require.Equal(t, c.want, Parts(c.patch, c.max), name)
	}
}

func FuzzParts(f *testing.F) {
	f.Add(patch, 10)
	f.Add("@@ -1 +1 @@\n-a\n+b\n@@ -5,2 +5,2 @@ f\n \n-@@ -1 +1 @@\n+d\n\\ No newline at end of file", 40)
	f.Add("@@ -1 +1 @@\r\n-a\r\n+b\r\n@@ -5 +5 @@\n-@@ -\n+"+strings.Repeat("語", 900), 0)
	f.Fuzz(func(t *testing.T, patch string, max int) {
		parts := Parts(patch, max)
		require.Equal(t, patch, strings.Join(parts, ""))
		all, err := diff.Hunks(patch)
		if err != nil {
			require.Len(t, parts, 1)
			return
		}
		var again []diff.Hunk
		for _, part := range parts {
			hunks, err := diff.Hunks(part)
			require.NoError(t, err, "each part is a patch")
			require.True(t, len(hunks) == 1 || patch == "" || len(Number(part)) <= max+len(hunks),
				"only a single hunk may be larger")
			again = append(again, hunks...)
		}
		require.Equal(t, all, again, "every line keeps its number")
	})
}

func FuzzNumber(f *testing.F) {
	f.Add(patch)
	f.Add("@@ -1,2 +1,1 @@ " + strings.Repeat("f", 3_000) + "\r\n a\r\n-\r\n")
	f.Fuzz(func(t *testing.T, patch string) {
		hunks, err := diff.Hunks(patch)
		got := Number(patch)
		if err != nil || patch == "" {
			require.Equal(t, patch, got)
			return
		}
		lines := len(hunks)
		for _, h := range hunks {
			lines += len(h.Lines)
		}
		require.Equal(t, lines, strings.Count(got, "\n")+1)
		require.LessOrEqual(t, len(got), lines*(maxLine+30))
	})
}
