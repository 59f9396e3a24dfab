package wording_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/wording"
)

func TestALongGapIsClosedAndCodeKeepsTwoBlankLines(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a\n\nb\n\n```python\nx\n\n\ny\n```\n\nc", wording.Paragraphs(
		"\n\na\n\n \n\nb\n\n\n```python\nx\n\n\n\n\ny\n```\n\n\nc\n"))
	require.Equal(t, "~~~\n\n\nx", wording.Paragraphs("~~~\n\n\n\nx"), "an open block")
}

// A server that reports no usage, or only the prompt's, is billed at a bound: it used more than no tokens.
func TestTokensThatNobodyCountedAreNotCalledNone(t *testing.T) {
	t.Parallel()
	bound, counted := cost.Usage{Calls: 5, Cost: 50_000}, cost.Usage{Calls: 1, InputTokens: 2, OutputTokens: 1}
	require.Equal(t, []string{"5 model calls", "$0.05 of $1.00"}, wording.Costs(bound, 1_000_000))
	require.Equal(t, []string{"1 model call", "3 tokens"}, wording.Costs(counted, 0))
	require.Empty(t, wording.Costs(cost.Usage{}, 1_000_000))
}
