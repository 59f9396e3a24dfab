package score

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFindingHasATitleOrALine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Loss{
		`{"title":"a","line":2}`:                                    {{Title: "a", StartLine: 2, Line: 2}},
		`{"start_line":1,"line":2,"title":"a","fix":"\"line\":9,"}`: {{Title: "a", StartLine: 1, Line: 2}},
		`{"findings":[{"line":2},{"start_line":4,"line":3}]}`:       {{StartLine: 2, Line: 2}, {StartLine: 3, Line: 3}},
		`{"findings":[{"title":"a"},{"line":"3","title":"b"}]}`:     {{Title: "a", StartLine: 3, Line: 3}, {Title: "b"}},
		`{"line":2} and {"line":3}`:                                 {{StartLine: 2, Line: 2}, {StartLine: 3, Line: 3}},
		`{"line":2,"title":"cut`:                                    {{StartLine: 2, Line: 2}},
		`{"note":"line"}`:                                           nil,
		`["line",2]`:                                                nil,
		`{"severity":"major"}`:                                      nil,
	} {
		require.Equal(t, want, scan(text), text)
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range []string{
		`{"findings":[{"line":1,"title":"a"},{"line":2}]}`, `[{"line":1,"title":"a","x":{"line":2}}]`,
		"{\"title\":\"\xff\"}", `{"title":"a","title":"b"}`,
		`{"findings":[{"title":"a" "line":3},{"title":"cut`, `{"line":99999999999999999999}`, `{"line":1e2}`,
		`{"a":[{"title":"\ud800"}]`, "```json\n{}\n```", "{{{[[[", `{"findings":{"title":"b"}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := scan(text)
		require.Equal(t, found, scan(text))
		for _, c := range found {
			require.NotContains(t, c.Title, "\n")
			require.True(t, 0 <= c.StartLine && c.StartLine <= c.Line)
		}
	})
}
