package wording_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/wording"
)

func TestALongGapIsClosedAndCodeKeepsTwoBlankLines(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a\n\nb\n\n```python\nx\n\n\ny\n```\n\nc", wording.Paragraphs(
		"\n\na\n\n \n\nb\n\n\n```python\nx\n\n\n\n\ny\n```\n\n\nc\n"))
	require.Equal(t, "~~~\n\n\nx", wording.Paragraphs("~~~\n\n\n\nx"), "an open block")
}
