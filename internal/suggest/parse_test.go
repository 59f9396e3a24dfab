package suggest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/lang"
)

// long are chains of every kind, so many links each, for which a parser would take seconds.
func long(n int) map[string]string {
	many := func(text string) string { return strings.Repeat(text, n) }
	return map[string]string{
		"items.yml": "a:\n  " + many("- ") + "a\n", "keys.yaml": many("? ") + "a\n",
		"columns.yml":  "a:\n" + many(" ") + "a: b\n",
		"brackets.yml": "a: " + many("[") + many("]"),
		"closed.yml":   "a: '" + many("]") + "'\nb: " + many("[") + many("]"),
		"braces.yml":   "a: " + many("{a: ") + many("}"),
		"arrays.toml":  "a = " + many("[") + many("]"), "inline.toml": "a = " + many("{a = ") + "1" + many("}"),
	}
}

func TestT35_ALongChainOfAnyKindIsNotParsed(t *testing.T) {
	t.Parallel()
	for n, short := range map[int]bool{15: true, 15_000: false} {
		for name, text := range long(n) {
			require.Equal(t, short, maxNesting([]byte(text)) <= maxDepth, "%s of %d", name, n)
			if !short {
				require.False(t, languages[lang.Of(name).Name].parses([]byte(text)), name)
			}
		}
	}
}

func TestT35_AFilesSuggestionsTakeNoMoreThanTwoSecondsInAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		size int
		want int // looks, of 50
	}{
		{"a.go", 4 << 10, 50}, {"a.go", 60 << 10, 50}, {"a.go", 500 << 10, 31},
		{"a.json", 60 << 10, 50}, {"a.json", 500 << 10, 31},
		{"a.yml", 4 << 10, 50}, {"a.yml", 32 << 10, 6}, {"a.toml", 32 << 10, 6},
	} {
		first := map[string]string{"a.go": "package a", "a.json": "{}", "a.yml": "a: b", "a.toml": "a = 1"}
		head := first[c.name] + "\n\n\n" + strings.Repeat(strings.Repeat(" ", 31)+"\n", c.size/32)
		shown, err := diff.NewAnchors("@@ -3,0 +3,1 @@\n+")
		require.NoError(t, err)
		f := New(c.name, shown, []byte(head))
		require.NotNil(t, f.parses, c.name)
		looks := 0
		f.parses = func([]byte) bool { looks++; return true }
		for range 50 {
			got := f.Check(finding.Finding{Side: finding.Right, StartLine: 3, Line: 3, Suggestion: "x"})
			require.Contains(t, []string{"", untried}, got.SuggestionProblem)
		}
		require.Equal(t, c.want, looks, "%s of %d bytes", c.name, c.size)
		require.GreaterOrEqual(t, *f.budget, 0)
	}
	shown, err := diff.NewAnchors("@@ -1,0 +1,1 @@\n+a: b")
	require.NoError(t, err)
	f := New("a.yml", shown, []byte("a: b"))
	got := f.Check(finding.Finding{Side: finding.Right, Line: 1, Suggestion: strings.Repeat("a: b\n", 20_000)})
	require.Equal(t, untried, got.SuggestionProblem, "what is suggested counts as well")
}
