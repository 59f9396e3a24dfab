package guard_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/guard"
)

func FuzzMarkdown(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		page := guard.Markdown(s)
		require.Empty(t, violations(page), "%q became %q", s, page)
		require.Equal(t, page, guard.Markdown(page), "%q", s)
		title := guard.Inline(s, 100)
		require.Empty(t, violations(title), "%q became %q", s, title)
		require.False(t, strings.Contains(title, "\n"))
		require.True(t, utf8.ValidString(page+title))
	})
}
