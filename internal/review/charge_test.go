package review

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
)

// TestP9_KeptAnswersCountAgainstTheCapOfTheirFile continues after a crash: what the
// file has paid for is known, so that it ends where it would have ended.
func TestP9_KeptAnswersCountAgainstTheCapOfTheirFile(t *testing.T) {
	t.Parallel()
	m, server := model(t, answers("prose", whole))
	price := cost.Price{Input: 1_000_000, Output: 1_000_000}
	ledger := budget.New(0)
	m.Options.Review = ledger.Over(m.Options.Review, &price)
	m.FileCap = 60_000 // room for one call's bound, but not for a second one on top of the reported cost of the first
	first := true
	m.Once = func(ctx context.Context, _ string, do func(context.Context) (Recorded, error)) (Recorded, error) {
		if !first {
			return do(ctx)
		}
		first = false
		return Recorded{Boundary: "00000000000000000000000000000000", Text: "prose",
			Usage: cost.Usage{Calls: 1, Cost: 59_000}}, nil
	}
	got, err := m.Review(t.Context(), file)
	require.NoError(t, err)
	require.Zero(t, server.Calls(), "the second call does not fit")
	require.Equal(t, finding.Failed, got.State)
	require.EqualValues(t, cost.ErrFileSpent.Error(), got.Reason)
}
