package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
)

const twoHunks = "@@ -1,3 +1,3 @@ func f() {\n a\n-b\n+B\n c\n@@ -10,2 +10,3 @@\n j\n+k\n l\n\\ No newline at end " +
	"of file"

func TestHunksNumbersBothSides(t *testing.T) {
	t.Parallel()
	hunks, err := diff.Hunks(twoHunks)
	require.NoError(t, err)
	require.Equal(t, []diff.Hunk{
		{OldStart: 1, OldLines: 3, NewStart: 1, NewLines: 3, Section: "func f() {", Lines: []diff.Line{
			{diff.Context, 1, 1, "a"}, {diff.Delete, 2, 0, "b"}, {diff.Add, 0, 2, "B"}, {diff.Context, 3, 3, "c"},
		}},
		{OldStart: 10, OldLines: 2, NewStart: 10, NewLines: 3, Lines: []diff.Line{
			{diff.Context, 10, 10, "j"}, {diff.Add, 0, 11, "k"}, {diff.Context, 11, 12, "l"},
		}},
	}, hunks)
}

func TestHunksErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	for patch, message := range map[string]string{
		"x":                             `line 1: "x" stands where a hunk should begin`,
		"@@ -1 +1 @@\n-a":               "line 3: hunk of line 1 is cut off: 0 old and 1 new lines are missing",
		"@@ -1 +1 @@\n-a\n+b\nc":        `line 4: "c" stands where`,
		"@@ -1 +1 @@\n-a\n-b\n+c":       `line 3: "-b" does not fit`,
		"@@ -0 +1 @@\n-a\n+b":           "line 1: hunk starts",
		"@@ -0,0 +0,0 @@":               "line 1: hunk has no lines",
		"@@@ -1 -1 +1 @@@\n--a\n++b":    "line 1:",
		"@@ -1 +1 @@\n-a\n+b\n@@ -1 @@": "line 4:",
	} {
		_, err := diff.Hunks(patch)
		require.ErrorContains(t, err, message, patch)
		_, err = diff.NewAnchors(patch)
		require.Error(t, err)
	}
}

func TestP7_AnchorsStandOnLinesOfOneHunk(t *testing.T) {
	t.Parallel()
	a, err := diff.NewAnchors(twoHunks)
	require.NoError(t, err)
	for _, c := range []struct {
		side        string
		start, line int
		ok          bool
	}{
		{"RIGHT", 1, 1, true}, {"RIGHT", 1, 3, true}, {"RIGHT", 10, 12, true}, {"LEFT", 2, 2, true},
		{"RIGHT", 3, 1, false}, {"RIGHT", 3, 10, false}, {"RIGHT", 4, 4, false}, {"RIGHT", 13, 13, false},
		{"RIGHT", 0, 1, false}, {"RIGHT", -1, -1, false}, {"LEFT", 12, 12, false}, {"LEFT", 1, 1, false},
		{"LEFT", 1, 2, false},
		{"left", 2, 2, false}, {"", 1, 1, false}, {"RIGHT", 1, 1 << 62, false},
	} {
		require.Equal(t, c.ok, a.Admit(c.side, c.start, c.line), "%v", c)
	}
	require.False(t, diff.Anchors{}.Admit("RIGHT", 1, 1))
	text, ok := a.Text("RIGHT", 11)
	require.True(t, ok)
	require.Equal(t, "k", text)
	text, _ = a.Text("LEFT", 2)
	require.Equal(t, "b", text)
	_, ok = a.Text("LEFT", 5)
	require.False(t, ok)
}

func TestCheckPathRefusesWhatLeavesTheTree(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a", "a/b.go", "..a/b", "a..b", ".github/x", "grün/日本", "a b", "-x", "a:b"} {
		require.NoError(t, diff.CheckPath(good), good)
	}
	for _, bad := range []string{"", ".", "..", "../a", "a/..", "a/../b", "/a", "a//b", "./a", "a/", `a\b`, "a\x00",
		"C:/x", "a/./b", "\xff"} {
		require.Error(t, diff.CheckPath(bad), "%q", bad)
	}
}

func FuzzHunks(f *testing.F) {
	f.Add(twoHunks)
	f.Add("@@ -0,0 +1 @@\n+a\n")
	f.Add("@@ -1,2 +1 @@\n\n-b\r\n")
	f.Fuzz(func(t *testing.T, patch string) {
		hunks, err := diff.Hunks(patch)
		a, errAnchors := diff.NewAnchors(patch)
		require.Equal(t, err, errAnchors)
		for _, h := range hunks {
			for _, l := range h.Lines {
				if l.New > 0 {
					require.True(t, a.Admit("RIGHT", l.New, l.New))
					text, _ := a.Text("RIGHT", l.New)
					require.Equal(t, l.Text, text)
				}
				if l.Op == diff.Delete {
					require.True(t, a.Admit("LEFT", l.Old, l.Old))
				}
			}
		}
	})
}

// BenchmarkAnchors indexes a patch of 4 KB and checks every line that a comment may be on.
func BenchmarkAnchors(b *testing.B) {
	patch := ""
	for hunk := range 3 {
		patch += fmt.Sprintf("@@ -%[1]d,44 +%[1]d,44 @@\n", 10+100*hunk) +
			strings.Repeat(" "+strings.Repeat("c", 60)+"\n-old\n+new\n", 22)
	}
	hunks, err := diff.Hunks(patch)
	require.NoError(b, err)
	checks := 0
	for b.Loop() {
		a, err := diff.NewAnchors(patch)
		require.NoError(b, err)
		for _, h := range hunks {
			for _, l := range h.Lines {
				side, at := "RIGHT", l.New
				if l.Op == diff.Delete {
					side, at = "LEFT", l.Old
				}
				if checks++; !a.Admit(side, at, at) {
					b.Fatal("refused")
				}
			}
		}
	}
	b.ReportMetric(float64(checks)/b.Elapsed().Seconds()/1e6, "Mchecks/s")
}
