package review

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

func TestSuggestionsAreHeldAgainstTheFileAsItWillBe(t *testing.T) {
	t.Parallel()
	source := "package a\n\nfunc f() {\n\tc()\n}\n"
	patch, _, _ := diff.Between("package a\n\nfunc f() {\n}\n", source)
	about := diff.File{Path: "a.go", Status: diff.Modified, Patch: patch, Additions: 1}
	with := func(suggestion string) string {
		return `{"findings":[{"line":4,"severity":"minor","title":"c leaks","confidence":0.9,"suggestion":` +
			suggestion + `}]}`
	}
	read := func(text string, err error) func(context.Context, string) ([]byte, error) {
		return func(context.Context, string) ([]byte, error) { return []byte(text), err }
	}
	for name, c := range map[string]struct {
		answer string
		head   func(context.Context, string) ([]byte, error)
		want   string
		plain  string
	}{
		"it parses":            {with(`"\tdefer c()"`), read(source, nil), "\tdefer c()", ""},
		"it is indented":       {with(`"defer c()"`), read(source, nil), "\tdefer c()", ""},
		"it does not parse":    {with(`"\tdefer c("`), read(source, nil), "\tdefer c(", "would not parse"},
		"it is what is there":  {with(`"\tc()"`), read(source, nil), "", ""},
		"no file at hand":      {with(`"\tdefer c("`), nil, "\tdefer c(", ""},
		"the file is not read": {with(`"\tdefer c()"`), read("", errors.New("gone")), "\tdefer c()", unreadHead},
		"another file": {with(`"\tdefer c()"`), read("package b\n", nil), "\tdefer c()",
			"as the file has them"},
	} {
		m, _ := model(t, answers(c.answer))
		m.Head = c.head
		got, err := m.Review(t.Context(), about)
		require.NoError(t, err)
		require.Len(t, got.Findings, 1, name)
		require.Equal(t, c.want, got.Findings[0].Suggestion, name)
		require.Equal(t, finding.Reviewed, got.State, name)
		if c.plain == "" {
			require.Empty(t, got.Findings[0].SuggestionProblem, name)
			continue
		}
		require.Contains(t, got.Findings[0].SuggestionProblem, c.plain, name)
	}
}

func TestAnEndedRunDecidesNothingAboutASuggestion(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m, _ := model(t, answers(`{"findings":[{"line":41,"severity":"minor","title":"c leaks","confidence":0.9`+
		`,"suggestion":"x"}]}`))
	m.Head = func(ctx context.Context, _ string) ([]byte, error) {
		cancel()
		return nil, ctx.Err()
	}
	_, err := m.Review(ctx, file)
	require.ErrorIs(t, err, context.Canceled, "the file is reviewed again by the run that goes on, with the answers "+
		"that were kept")
}
