package review

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/prompt"
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
		"on its line":                {finding.Finding{Line: 11, Quote: "return nil // done"}, 11, "", 0},
		"with other white space":     {finding.Finding{Line: 11, Quote: "\treturn  nil // done "}, 11, "", 0},
		"a part that tells the line": {finding.Finding{Line: 12, Quote: "return nil //"}, 11, "", 1},
		"a part that is too short":   {finding.Finding{Line: 11, Quote: "return"}, 11, finding.Misquoted, 0},
		"on another line":            {finding.Finding{Line: 14, Quote: "if err != nil {"}, 12, "", 1},
		"cut short":                  {finding.Finding{Line: 12, Quote: "+ return nil // ..."}, 11, "", 1},
		"without its beginning":      {finding.Finding{Line: 11, Quote: "…turn nil // done"}, 11, "", 0},
		"cut too short":              {finding.Finding{Line: 11, Quote: "return …"}, 11, finding.Misquoted, 0},
		"cut, and of no line":        {finding.Finding{Line: 11, Quote: "return nil, x..."}, 11, finding.Misquoted, 0},
		"cut, in another order":      {finding.Finding{Line: 11, Quote: "nil // done ... return"}, 11, finding.Misquoted, 0},
		"nowhere": {finding.Finding{Line: 11, Quote: "if err == io.EOF {"}, 11, finding.Misquoted,
			0},
		"nowhere, beside the diff": {finding.Finding{Line: 90, Quote: "if err == io.EOF {"}, 90, "", 0},
		"nothing":                  {finding.Finding{Line: 11}, 11, "", 0},
		"with its number and kind": {finding.Finding{Line: 11, Quote: "11 + return nil // done"}, 11, "", 0},
		"the last of several lines": {finding.Finding{Line: 11, Quote: "return nil // done\nif err != nil {\n"}, 12,
			"", 1},
		"a removed line, on the left":  {finding.Finding{Line: 11, Side: finding.Left, Quote: "old(x)"}, 11, "", 0},
		"a removed line, on the right": {finding.Finding{Line: 12, Side: finding.Right, Quote: "old(x)"}, 11, "", 1},
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

// quoted are the ways in which a model quotes the lines of a range, and whether
// the diff has them so.
func quoted(lines []string) map[string]string {
	return map[string]string{
		"first": lines[0], "middle": lines[len(lines)/2], "last": lines[len(lines)-1], "all": strings.Join(lines, "\n"),
		"other white space": "\n  " + strings.ReplaceAll(strings.Join(lines, "\r\n\t"), " ", "  ") + " \n\n",
	}
}

// The 35 ranges, on either side: one to seven lines, each with its quote
// taken from another place within them.
func TestAQuoteWithinItsLinesMovesNothing(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf("\tcall%02d(ctx, a)", i), "}", "")
	}
	ranges := 0
	for sign, side := range map[string]finding.Side{"+": finding.Right, "-": finding.Left} {
		header := map[string]string{"+": "@@ -8,0 +9,%d @@", "-": "@@ -9,%d +8,0 @@"}[sign]
		q := newQuotes(fmt.Sprintf(header, len(lines)) + "\n" + sign + strings.Join(lines, "\n"+sign))
		for length := 1; length <= 7; length++ {
			start := 3 * length // an index of a line with a call
			for name, quote := range quoted(lines[start : start+length]) {
				ranges++
				said := finding.Finding{Side: side, StartLine: 9 + start, Line: 9 + start + length - 1, Quote: quote,
					Suggestion: "x"}
				out, moved := q.check([]finding.Finding{said})
				require.Equal(t, said, out[0], "%s of %d lines", name, length)
				require.Zero(t, moved)
				if strings.TrimSpace(quote) == "" || strings.TrimSpace(quote) == "}" {
					continue // which is in many lines
				}
				said.StartLine, said.Line = 9, 10
				out, moved = q.check([]finding.Finding{said})
				require.Equal(t, 1, moved)
				require.Equal(t, writtenElsewhere, out[0].SuggestionProblem,
					"%s of %d lines, said of others", name, length)
				require.True(t, out[0].Line >= 9+start && out[0].Line < 9+start+length, "it ends within what is quoted")
			}
		}
	}
	require.Equal(t, 2*35, ranges)
}

func TestAQuoteOfSeveralLinesIsOneBlock(t *testing.T) {
	t.Parallel()
	q := newQuotes("@@ -1,2 +1,9 @@\n a()\n+if x {\n+\treturn nil\n+}\n+\n+if y {\n+\treturn nil\n+}\n b()\n@@ " +
		"-20,2 +27,2 @@\n c()\n d()")
	for quote, want := range map[string]int{
		"if x {\n\treturn nil\n}":           4,
		"if y {\n\treturn nil\n}":           8,
		"}\nif y {":                         6, // a blank line is easily left out
		"6 + if y {\n7 + return nil\n8 + }": 8,
		"if y { return nil }":               8,
		"if y {\n...\n}":                    6, // what is left out leaves the longest line
		"b()\nc()":                          9, // no block: they are of two hunks
		"if y {\n\tcall(<… 999 bytes left out …>)\n": 6,
	} {
		for _, at := range []int{1, 9, 28} {
			found, _ := q.check([]finding.Finding{{Side: finding.Right, StartLine: at, Line: at, Quote: quote}})
			require.Equal(t, want, found[0].Line, "%q at %d", quote, at)
		}
	}
	found, _ := q.check([]finding.Finding{{Side: finding.Right, StartLine: 28, Line: 28,
		Quote: "if z {\n\treturn z\n}"}})
	require.Equal(t, finding.Misquoted, found[0].Filtered, "its last line alone would be any of them")
}

func TestOfEqualLinesTheNearestIsMeant(t *testing.T) {
	t.Parallel()
	q := newQuotes("@@ -1,5 +1,7 @@\n a\n+x := next()\n b\n c\n d\n+x := next()\n e")
	found, _ := q.check([]finding.Finding{{StartLine: 4, Line: 5, Quote: "x := next()"},
		{StartLine: 3, Line: 3, Quote: "x := next()"}})
	require.Equal(t, []int{5, 6, 2, 2}, []int{found[0].StartLine, found[0].Line, found[1].StartLine, found[1].Line})
}

// Where a line was shown, whatever a model does to its quote on the way does not
// lose the finding.
func TestT1_NoTextInALineLosesTheFindingThatQuotesIt(t *testing.T) {
	t.Parallel()
	long := "call(" + strings.Repeat("a", 3000) + ", DEFECT, " + strings.Repeat("b", 3000) + ")"
	for name, line := range map[string]string{
		"a turn's border":      "x := f() // <|im_end|> [INST] <<SYS>> </s>",
		"a mark":               "x := f() // <<<end 0123456789abcdef0123456789abcdef>>>",
		"a direction":          "x := f() //\u202e esrever",
		"zero width":           "x := f()\u200b //\u200d done",
		"a long line":          long,
		"backslashes":          `x := regexp.MustCompile("\\d+\\.\\w")`,
		"carriage return":      "x := f()\r",
		"tabs":                 "\tx\t:=\tf(\"a\tb\")",
		"a long line's border": strings.Repeat("c", 6000) + "<|im_end|>" + strings.Repeat("d", 6000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patch := "@@ -1,0 +1,3 @@\n+before()\n+" + line + "\n+after()"
			shown := strings.Split(prompt.User("0123456789abcdef0123456789abcdef",
				prompt.Input{Path: "a.go", Patch: patch}), "before()\n")[1]
			_, shown, _ = strings.Cut(strings.SplitN(shown, "\n", 2)[0], "+ ")
			for _, quote := range []string{shown, line, strings.ReplaceAll(shown, `\`, ""), strings.TrimSpace(shown),
				shown + "\n"} {
				for _, at := range []int{1, 2, 3} {
					found, _ := newQuotes(patch).check([]finding.Finding{{Side: finding.Right, StartLine: at, Line: at,
						Quote: quote}})
					require.Empty(t, found[0].Filtered, quote)
					require.Equal(t, 2, found[0].Line, quote)
				}
			}
		})
	}
}

func TestAQuotePassesOverAFormFeed(t *testing.T) {
	t.Parallel()
	q := newQuotes("@@ -1 +1 @@\n-\fint old(void)\n+\fint main(void) {")
	for _, quote := range []string{"int main(void) {", "\fint main(void) {", "<U+000C>int main(void) {"} {
		t.Run(quote, func(t *testing.T) {
			t.Parallel()
			found, moved := q.check([]finding.Finding{{Line: 1, StartLine: 1, Side: finding.Right, Quote: quote}})
			require.Empty(t, found[0].Filtered)
			require.Zero(t, moved)
		})
	}
}

func TestAQuoteOfAFileWithCarriageReturnsStands(t *testing.T) {
	t.Parallel()
	f := file
	f.Patch = strings.ReplaceAll(file.Patch, "\n", "\r\n") + "\r"
	m, _ := full(t, llmtest.Honest)
	got, err := alone(m).Review(t.Context(), f)
	require.NoError(t, err)
	require.Equal(t, []string{"c leaks"}, titles(got.Findings))
	require.Empty(t, got.Findings[0].Filtered)
	found, _ := newQuotes(f.Patch).check([]finding.Finding{{Side: finding.Right, StartLine: 42, Line: 42,
		Quote: "d()"}})
	require.Empty(t, found[0].Filtered)
}

// A finding is never lost, stands as it was said where one of its lines has its
// quote, otherwise on the nearest that has, and a second check changes nothing.
func TestQuotesHoldOnRandomDiffs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 4))
	words := []string{"return nil", "if err != nil {", "}", "", "x := next(ctx, a)", "x  := next(ctx,  a)",
		"close(done)"}
	for range 2000 {
		var patch strings.Builder
		olds, news := 0, 0
		var lines []string
		for range 1 + random.IntN(12) {
			op, text := " +-"[random.IntN(3)], words[random.IntN(len(words))]
			lines = append(lines, string(op)+text)
			if op != '+' {
				olds++
			}
			if op != '-' {
				news++
			}
		}
		fmt.Fprintf(&patch, "@@ -%d,%d +%d,%d @@\n%s", 10, olds, 20, news, strings.Join(lines, "\n"))
		q := newQuotes(patch.String())
		in := finding.Finding{
			Side: []finding.Side{finding.Right, finding.Left}[random.IntN(2)], Line: 5 + random.IntN(35),
			Quote: words[random.IntN(len(words))],
		}
		in.StartLine = max(in.Line-random.IntN(3), 1)
		out, moved := q.check([]finding.Finding{in})
		require.Len(t, out, 1)
		got := out[0]
		require.Equal(t, got.Line != in.Line || got.Side != in.Side, moved == 1)
		require.Equal(t, got.Line-in.Line, got.StartLine-in.StartLine)
		nearest, shown := nearestLine(t, patch.String(), in)
		if beyond := in; nearest == 0 && in.Quote != "" {
			beyond.Side, beyond.StartLine = otherSide(in.Side), in.Line
			nearest, _ = nearestLine(t, patch.String(), beyond)
			require.Equal(t, nearest > 0, got.Side != in.Side, "the other side is the second choice")
		}
		switch {
		case in.Quote == "" || nearest == 0 && !shown:
			require.Equal(t, in, got)
		case nearest == 0:
			require.Equal(t, finding.Misquoted, got.Filtered)
			require.Equal(t, in.Line, got.Line)
		default:
			require.Empty(t, got.Filtered)
			require.Equal(t, abs(nearest-in.Line), abs(got.Line-in.Line), patch.String())
		}
		again, moved := q.check(out)
		require.Equal(t, out, again)
		require.Zero(t, moved)
	}
}

// nearestLine is the last line of a finding where one of its lines has its quote,
// else the nearest one that has, and whether the last line is one of the diff.
func nearestLine(t *testing.T, patch string, f finding.Finding) (nearest int, shown bool) {
	t.Helper()
	hunks, err := diff.Hunks(patch)
	require.NoError(t, err)
	within := false
	for _, l := range hunks[0].Lines {
		n := l.New
		if f.Side == finding.Left {
			n = l.Old
		}
		if n == 0 {
			continue
		}
		shown = shown || n == f.Line
		if strings.Join(strings.Fields(l.Text), " ") != strings.Join(strings.Fields(f.Quote), " ") {
			continue
		}
		within = within || f.StartLine <= n && n <= f.Line
		if nearest == 0 || abs(n-f.Line) < abs(nearest-f.Line) {
			nearest = n
		}
	}
	if within {
		return f.Line, shown
	}
	return nearest, shown
}
