package cost

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestP9_APriceChargesEveryPartOnceAndRoundsUpOnce(t *testing.T) {
	t.Parallel()
	p := Price{Input: 1_000_000, CachedInput: 100_000, Output: 10_000_000, CacheWrite: 1_250_000,
		PerThousand: 2_000_000}
	for _, c := range []struct {
		name string
		used Usage
		want MicroUSD
	}{
		{"nothing", Usage{}, 0},
		{"input", Usage{InputTokens: 7}, 7},
		{"output with its reasoning", Usage{OutputTokens: 3, ReasoningTokens: 2}, 30},
		{"cached", Usage{InputTokens: 20, CachedTokens: 10}, 11},
		{"written", Usage{InputTokens: 20, CacheWriteTokens: 4}, 21},
		{"embedded", Usage{EmbeddingTokens: 7}, 7},
		{"reranked", Usage{RerankUnits: 3}, 6_000},
		{"more searches than there are", Usage{RerankUnits: math.MaxInt64}, math.MaxInt64},
		{"rounded up once", Usage{InputTokens: 3, CachedTokens: 2, CacheWriteTokens: 1}, 2}, // 0.2 + 1.25
		{"a part beyond its whole", Usage{InputTokens: 10, CachedTokens: 99, CacheWriteTokens: 99}, 1},
		{"negative", Usage{InputTokens: -5, CachedTokens: -5, CacheWriteTokens: -1, OutputTokens: -1,
			EmbeddingTokens: -1, RerankUnits: -1}, 0},
		{"beyond all bounds", Usage{InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64}, math.MaxInt64},
	} {
		require.Equal(t, c.want, p.Of(c.used), c.name)
	}
	require.EqualValues(t, 14+20, p.AtMost(11, 2), "11 tokens at 1.25, the dearest input, are 13.75")
}

func TestP9_APriceIsExactForWhatUsageMayBe(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		p := Price{Input: MicroUSD(r.Int64N(1e10)), CachedInput: MicroUSD(r.Int64N(1e10)),
			Output: MicroUSD(r.Int64N(1e10)), CacheWrite: MicroUSD(r.Int64N(1e10))}
		in := r.Int64N(1 << 40)
		cached := r.Int64N(in + 1)
		u := Usage{InputTokens: in, CachedTokens: cached, CacheWriteTokens: r.Int64N(in - cached + 1),
			OutputTokens: r.Int64N(1 << 40)}
		want := new(big.Int)
		for _, part := range [][2]int64{
			{in - cached - u.CacheWriteTokens, int64(p.Input)}, {cached, int64(p.CachedInput)},
			{u.CacheWriteTokens, int64(p.CacheWrite)}, {u.OutputTokens, int64(p.Output)},
		} {
			want.Add(want, new(big.Int).Mul(big.NewInt(part[0]), big.NewInt(part[1])))
		}
		want.Div(want.Add(want, big.NewInt(million-1)), big.NewInt(million))
		require.EqualValues(t, want.Int64(), p.Of(u))
		require.LessOrEqual(t, p.Of(u), p.AtMost(u.InputTokens, u.OutputTokens))
	}
}

func TestAnAmountIsReadInDollars(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "0", "-1", "NaN", "Inf", "10001", "$1"} {
		_, err := ParseUSD(bad)
		require.ErrorContains(t, err, "is not an amount in USD", bad)
	}
	_, ok := USD("0")
	require.True(t, ok, "a price may be nothing, a cap not")
}
