package judge

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const twoHunks = "@@ -10,2 +10,2 @@ func a() {\n a\n-b\n+c\n@@ -50,1 +50,2 @@ func d() {\n d\n+e"

func TestHunkIsTheOneAtTheLineOrTheNearest(t *testing.T) {
	t.Parallel()
	first := "@@ func a() {\n    10     10   a\n    11        - b\n           11 + c"
	second := "@@ func d() {\n    50     50   d\n           51 + e"
	for line, want := range map[int]string{
		1: first, 10: first, 11: first, 30: first, 31: second, 50: second, 51: second, 900: second, 0: first, -1: first,
	} {
		require.Equal(t, want, Hunk(twoHunks, line), line)
	}
	require.Equal(t, "@@\n     5        - gone", Hunk("@@ -5,1 +4,0 @@\n-gone", 4),
		"a hunk may have no line on the new side")
	require.Empty(t, Hunk("no patch", 1))
	require.Empty(t, Hunk("", 1))
}

func TestHunkShowsTwoHundredLinesAroundTheLineAndMarksTheCuts(t *testing.T) {
	t.Parallel()
	var patch strings.Builder
	patch.WriteString("@@ -1,100 +1,600 @@ f")
	for i := range 600 {
		if i%6 == 0 {
			fmt.Fprintf(&patch, "\n line %d", i+1)
		} else {
			fmt.Fprintf(&patch, "\n+line %d", i+1)
		}
	}
	for line, want := range map[int]struct{ head, tail string }{
		1: {"@@ f\n     1      1   line 1\n", "\n… 400 lines of the hunk left out"},
		300: {"@@ f\n… 199 lines of the hunk left out\n          200 + line 200\n",
			"\n… 201 lines of the hunk left out"},
		600: {"@@ f\n… 400 lines of the hunk left out\n          401 + line 401\n", "          600 + line 600"},
	} {
		got := Hunk(patch.String(), line)
		require.True(t, strings.HasPrefix(got, want.head), "%.100s", got)
		require.True(t, strings.HasSuffix(got, want.tail), got[len(got)-100:])
		require.Equal(t, maxLines, strings.Count(got, " line "))
		require.Contains(t, got, fmt.Sprintf("line %d", line))
	}
}

func TestHunkCutsLongLines(t *testing.T) {
	t.Parallel()
	got := Hunk("@@ -0,0 +1 @@\n+"+strings.Repeat("ä", maxWidth+1), 1)
	require.Equal(t, "@@\n            1 + "+strings.Repeat("ä", maxWidth)+"…", got)
}

func FuzzHunk(f *testing.F) {
	f.Add(twoHunks, 11)
	f.Add("@@ -5,1 +4,0 @@\n-gone", 9)
	f.Add("@@ -1,2 +1,2 @@\r\n a\r\n\n-b\r\n+c", 1)
	f.Fuzz(func(t *testing.T, patch string, line int) {
		got := Hunk(patch, line)
		require.LessOrEqual(t, strings.Count(got, "\n"), maxLines+2)
		if utf8.ValidString(patch) {
			require.True(t, utf8.ValidString(got))
		}
		require.Equal(t, got, Hunk(patch, line))
	})
}
