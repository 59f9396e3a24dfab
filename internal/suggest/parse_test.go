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

func TestT35_ALargeFileOrSuggestionIsNotParsed(t *testing.T) {
	t.Parallel()
	shown, err := diff.NewAnchors("@@ -1,0 +1,1 @@\n+a: b")
	require.NoError(t, err)
	require.Nil(t, New("a.yml", shown, []byte(strings.Repeat("a: b\n", 20_000))).parses)
	f := New("a.yml", shown, []byte("a: b"))
	f.parses = func([]byte) bool { panic("it is parsed") }
	got := f.Check(finding.Finding{Side: finding.Right, Line: 1, Suggestion: strings.Repeat("a: b\n", 20_000)})
	require.Equal(t, unparsed, got.SuggestionProblem)
}
