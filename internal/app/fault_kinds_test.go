package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llmtest"
)

// TestEveryKindOfServerGivesTheSameDraft runs the command line before the six kinds
// of model servers.
func TestEveryKindOfServerGivesTheSameDraft(t *testing.T) {
	t.Parallel()
	dir := clone(t, nil, threeFiles())
	var want spoken
	for _, kind := range llmtest.Kinds() {
		model := llmtest.Start(t, llmtest.Curious(llmtest.Honest), llmtest.As(kind))
		r := shell{t: t, dir: dir, model: model.URL}.review("--model", pricedModel, "--store", t.TempDir())
		require.Zero(t, r.Code, "%s: %s", kind, r.Stderr)
		require.Equal(t, "PAUSED", r.Outcome, kind)
		require.Len(t, r.Findings, 3, kind)
		if want.Findings == nil {
			want = r
		}
		require.Equal(t, want.Findings, r.Findings, kind)
		require.Equal(t, want.Files, r.Files, kind)
		require.Equal(t, want.Body, r.Body, kind)
	}
}
