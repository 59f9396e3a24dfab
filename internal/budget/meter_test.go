package budget

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
)

func TestP9_WhatIsEmbeddedAndRerankedIsPaidFromTheSameMoney(t *testing.T) {
	t.Parallel()
	price := cost.Price{Input: 1_000_000, PerThousand: 2_000_000}
	l := New(1_000)
	spend := func(need cost.MicroUSD, u cost.Usage) (cost.Usage, error) {
		return l.Spend(t.Context(), need, &price, func(context.Context) (cost.Usage, error) { return u, nil })
	}
	used, err := spend(900, cost.Usage{EmbeddingTokens: 300})
	require.NoError(t, err)
	require.Equal(t, cost.Usage{EmbeddingTokens: 300, Calls: 1, Cost: 300}, used)
	_, err = spend(701, cost.Usage{})
	require.ErrorIs(t, err, cost.ErrSpent)
	used, err = spend(500, cost.Usage{})
	require.NoError(t, err)
	require.EqualValues(t, 500, used.Cost, "a server that does not say costs the bound")
	require.EqualValues(t, 800, l.Spent())
	l = New(0)
	used, err = spend(2_000, cost.Usage{RerankUnits: 1})
	require.NoError(t, err)
	require.EqualValues(t, 2_000, used.Cost)
}

func TestWhatIsAskedForAllFilesCountsAgainstTheCapOfNone(t *testing.T) {
	t.Parallel()
	price := cost.Price{Input: 1_000_000}
	l := New(1_000)
	ctx := Apart(WithFile(t.Context(), 10))
	Charge(ctx, 5)
	_, err := l.Spend(ctx, 500, &price, func(context.Context) (cost.Usage, error) {
		return cost.Usage{EmbeddingTokens: 400}, nil
	})
	require.NoError(t, err)
	require.EqualValues(t, 400, l.Spent())
}

func TestAMeterCountsWhatItsContextUsed(t *testing.T) {
	t.Parallel()
	Count(t.Context(), cost.Usage{Calls: 1})
	ctx, m := WithMeter(t.Context())
	Count(ctx, cost.Usage{Calls: 1, EmbeddingTokens: 3})
	inner, other := WithMeter(ctx)
	Count(inner, cost.Usage{RerankUnits: 1})
	require.Equal(t, cost.Usage{Calls: 1, EmbeddingTokens: 3}, m.Used())
	require.Equal(t, cost.Usage{RerankUnits: 1}, other.Used())
}
