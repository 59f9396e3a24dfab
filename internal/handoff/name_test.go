package handoff

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
)

const code = "3f9c2a71be04d855"

const reviews Names = "pr-review-"

func TestNamesAreTheContracts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Name{
		"pr-review-42-" + code:                     {Number: 42, Code: code},
		"pr-review-42-docs-" + code:                {Number: 42, Instance: "docs", Code: code},
		"pr-review-42-partial-3-" + code:           {Number: 42, Partial: 3, Code: code},
		"pr-review-42-a-b-partial-12-" + code:      {Number: 42, Instance: "a-b", Partial: 12, Code: code},
		"pr-review-42-partial-" + code:             {Number: 42, Instance: "partial", Code: code},
		"pr-review-42-" + code + "-" + code:        {Number: 42, Instance: code, Code: code},
		"pr-review-42-1-partial-2-" + code:         {Number: 42, Instance: "1", Partial: 2, Code: code},
		"pr-review-PAY-88-" + code:                 {Key: "PAY-88", Code: code},
		"pr-review-gh-7-partial-2-" + code:         {Key: "gh-7", Partial: 2, Code: code},
		"pr-review-file-0a1b2c3d-" + code:          {Key: "file-0a1b2c3d", Code: code},
		"pr-review-42-partial-1-partial-2-" + code: {Number: 42, Instance: "partial-1", Partial: 2, Code: code},
	} {
		got, ok := reviews.Parse(name)
		require.True(t, ok, name)
		require.Equal(t, want, got)
		require.Equal(t, name, reviews.String(want))
	}
	require.Equal(t, "pr-review-42-docs-partial-1-"+code,
		reviews.Partial(checkpoint.Subject{Number: 42, Instance: "docs"}, 1, code+strings.Repeat("0", 48)))
	require.Equal(t, "pr-review-decision-"+code, reviews.Decision(code))
	require.Equal(t, code, checkpoint.Code(code+strings.Repeat("0", 48)))
}

func TestOtherNamesAreNotOurs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", "pr-review-", "pr-review-42", "pr-review-42-", reviews.Decision(code), "pr-review-0-" + code,
		"pr-review-042-" + code,
		"pr-review--42-" + code, "pr-review-42-" + code[1:], "pr-review-42-" + strings.ToUpper(code),
		"pr-review-42-Docs-" + code,
		"pr-review-42--" + code, "pr-review-42-a--" + code, "pr-review-42-" + code + "\n", "x-pr-review-42-" + code,
		"pr-implement-42-" + code, "pr-review-PAY-" + code, "pr-review-88-PAY-88-" + code, "pr-review-PAY-x88-" + code,
		"pr-review-9999999999-" + code, "pr-review-42-" + strings.Repeat("a", 33) + "-" + code,
	} {
		_, ok := reviews.Parse(name)
		require.False(t, ok, name)
	}
}

func FuzzName(f *testing.F) {
	f.Add("pr-review-42-docs-partial-3-" + code)
	f.Add("pr-review-42-partial-" + code)
	f.Add(reviews.Decision(code))
	f.Fuzz(func(t *testing.T, text string) {
		if n, ok := reviews.Parse(text); ok {
			require.Equal(t, text, reviews.String(n))
			require.NotEqual(t, n.Number > 0, n.Key != "")
		}
	})
}
