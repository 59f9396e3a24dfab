package review

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
)

func TestAFindingStandsOnTheLineThatItQuotes(t *testing.T) {
	t.Parallel()
	const patch = "@@ -10,4 +10,5 @@ func f()\n a()\n-old(x)\n+return nil // done\n+if err != nil {\n b()\n c()"
	q := newQuotes(patch)
	for name, c := range map[string]struct {
		f        finding.Finding
		line     int
		filtered finding.Filter
		moved    int
	}{
		"on its line":                  {finding.Finding{Line: 11, Quote: "return nil // done"}, 11, "", 0},
		"with other white space":       {finding.Finding{Line: 11, Quote: "\treturn  nil // done "}, 11, "", 0},
		"a part that tells the line":   {finding.Finding{Line: 12, Quote: "return nil //"}, 11, "", 1},
		"a part that is too short":     {finding.Finding{Line: 11, Quote: "return"}, 11, finding.Misquoted, 0},
		"on another line":              {finding.Finding{Line: 14, Quote: "if err != nil {"}, 12, "", 1},
		"nowhere":                      {finding.Finding{Line: 11, Quote: "if err == io.EOF {"}, 11, finding.Misquoted, 0},
		"nowhere, beside the diff":     {finding.Finding{Line: 90, Quote: "if err == io.EOF {"}, 90, "", 0},
		"nothing":                      {finding.Finding{Line: 11}, 11, "", 0},
		"the last of several lines":    {finding.Finding{Line: 11, Quote: "return nil // done\nif err != nil {\n"}, 12, "", 1},
		"a removed line, on the left":  {finding.Finding{Line: 11, Side: finding.Left, Quote: "old(x)"}, 11, "", 0},
		"a removed line, on the right": {finding.Finding{Line: 11, Side: finding.Right, Quote: "old(x)"}, 11, finding.Misquoted, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.f.StartLine = c.f.Line
			found, moved := q.check([]finding.Finding{c.f})
			require.Equal(t, c.line, found[0].Line)
			require.Equal(t, c.line, found[0].StartLine)
			require.Equal(t, c.filtered, found[0].Filtered)
			require.Equal(t, c.moved, moved)
		})
	}
}

func TestOfEqualLinesTheNearestIsMeant(t *testing.T) {
	t.Parallel()
	q := newQuotes("@@ -1,5 +1,7 @@\n a\n+x := next()\n b\n c\n d\n+x := next()\n e")
	found, _ := q.check([]finding.Finding{{StartLine: 4, Line: 5, Quote: "x := next()"}, {StartLine: 3, Line: 3, Quote: "x := next()"}})
	require.Equal(t, []int{5, 6, 2, 2}, []int{found[0].StartLine, found[0].Line, found[1].StartLine, found[1].Line})
}
