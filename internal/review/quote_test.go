package review

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
		"on its line":                  {finding.Finding{Line: 11, Quote: "return nil // done"}, 11, "", 0},
		"with other white space":       {finding.Finding{Line: 11, Quote: "\treturn  nil // done "}, 11, "", 0},
		"a part that tells the line":   {finding.Finding{Line: 12, Quote: "return nil //"}, 11, "", 1},
		"a part that is too short":     {finding.Finding{Line: 11, Quote: "return"}, 11, finding.Misquoted, 0},
		"on another line":              {finding.Finding{Line: 14, Quote: "if err != nil {"}, 12, "", 1},
		"nowhere":                      {finding.Finding{Line: 11, Quote: "if err == io.EOF {"}, 11, finding.Misquoted, 0},
		"nowhere, beside the diff":     {finding.Finding{Line: 90, Quote: "if err == io.EOF {"}, 90, "", 0},
		"nothing":                      {finding.Finding{Line: 11}, 11, "", 0},
		"with its number and kind":     {finding.Finding{Line: 11, Quote: "11 + return nil // done"}, 11, "", 0},
		"the last of several lines":    {finding.Finding{Line: 11, Quote: "return nil // done\nif err != nil {\n"}, 12, "", 1},
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

func TestOfEqualLinesTheNearestIsMeant(t *testing.T) {
	t.Parallel()
	q := newQuotes("@@ -1,5 +1,7 @@\n a\n+x := next()\n b\n c\n d\n+x := next()\n e")
	found, _ := q.check([]finding.Finding{{StartLine: 4, Line: 5, Quote: "x := next()"}, {StartLine: 3, Line: 3, Quote: "x := next()"}})
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
			shown := strings.Split(prompt.User("0123456789abcdef0123456789abcdef", prompt.Input{Path: "a.go", Patch: patch}), "before()\n")[1]
			_, shown, _ = strings.Cut(strings.SplitN(shown, "\n", 2)[0], "+ ")
			for _, quote := range []string{shown, line, strings.ReplaceAll(shown, `\`, ""), strings.TrimSpace(shown), shown + "\n"} {
				for _, at := range []int{1, 2, 3} {
					found, _ := newQuotes(patch).check([]finding.Finding{{Side: finding.Right, StartLine: at, Line: at, Quote: quote}})
					require.Empty(t, found[0].Filtered, quote)
					require.Equal(t, 2, found[0].Line, quote)
				}
			}
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
	found, _ := newQuotes(f.Patch).check([]finding.Finding{{Side: finding.Right, StartLine: 42, Line: 42, Quote: "d()"}})
	require.Empty(t, found[0].Filtered)
}

// A finding is never lost, stands on a line with its quote or where it stood, and
// a second check changes nothing.
func TestQuotesHoldOnRandomDiffs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 4))
	words := []string{"return nil", "if err != nil {", "}", "", "x := next(ctx, a)", "x  := next(ctx,  a)", "close(done)"}
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
			Side: []finding.Side{finding.Right, finding.Left}[random.IntN(2)], Line: 5 + random.IntN(35), Quote: words[random.IntN(len(words))],
		}
		in.StartLine = max(in.Line-random.IntN(3), 1)
		out, moved := q.check([]finding.Finding{in})
		require.Len(t, out, 1)
		got := out[0]
		require.Equal(t, got.Line != in.Line || got.Side != in.Side, moved == 1)
		require.Equal(t, got.Line-in.Line, got.StartLine-in.StartLine)
		nearest, shown := nearestLine(q, in)
		if beyond := in; nearest == 0 && in.Quote != "" {
			beyond.Side = other(in.Side)
			nearest, _ = nearestLine(q, beyond)
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

// nearestLine is the line on a finding's side with its quote, and whether its own
// line is one of the diff.
func nearestLine(q quotes, f finding.Finding) (nearest int, shown bool) {
	for _, l := range q.lines {
		n := number(l, f.Side)
		if n == 0 {
			continue
		}
		shown = shown || n == f.Line
		if strings.Join(strings.Fields(l.Text), " ") == strings.Join(strings.Fields(f.Quote), " ") && (nearest == 0 || abs(n-f.Line) < abs(nearest-f.Line)) {
			nearest = n
		}
	}
	return nearest, shown
}
