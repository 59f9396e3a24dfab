package score

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestAScanHasBounds(t *testing.T) {
	t.Parallel()
	many := `{"findings":[` + strings.Repeat(`{"line":1},`, maxClaims+9) + `{"line":2}]}`
	require.Len(t, scan(many), maxClaims)
	require.Len(t, scan(strings.Repeat(`{"line":1}`, maxClaims+9)), maxClaims)
	require.Empty(t, scan(strings.Repeat(" ", maxText)+`{"line":1}`))
	long := scan(`{"title":"` + strings.Repeat("é", maxTitle+1) + `"}`)
	require.Equal(t, []claim{{title: strings.Repeat("é", maxTitle)}}, long)
}

func TestAFindingHasATitleOrALine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]claim{
		`{"title":"a","line":2}`:                                    {{title: "a", start: 2, line: 2}},
		`{"start_line":1,"line":2,"title":"a","fix":"\"line\":9,"}`: {{title: "a", start: 1, line: 2}},
		`{"findings":[{"line":2},{"start_line":4,"line":3}]}`:       {{start: 2, line: 2}, {start: 3, line: 3}},
		`{"findings":[{"title":"a"},{"line":"3","title":"b"}]}`:     {{title: "a", start: 3, line: 3}, {title: "b"}},
		`{"line":2} and {"line":3}`:                                 {{start: 2, line: 2}, {start: 3, line: 3}},
		`{"line":2,"title":"cut`:                                    {{start: 2, line: 2}},
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
		require.LessOrEqual(t, len(found), maxClaims)
		for _, c := range found {
			require.LessOrEqual(t, utf8.RuneCountInString(c.title), maxTitle)
			require.NotContains(t, c.title, "\n")
			require.LessOrEqual(t, c.line, maxLine)
			require.True(t, 0 <= c.start && c.start <= c.line)
		}
	})
}
