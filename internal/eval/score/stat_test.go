package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWilsonAgainstKnownValues(t *testing.T) {
	t.Parallel()
	require.Nil(t, Wilson(0, 0))
	for _, c := range []struct {
		k, n int
		want Interval
	}{
		{8, 10, Interval{Value: 0.8, Low: 0.4902, High: 0.9433}},
		{0, 10, Interval{Value: 0, Low: 0, High: 0.2775}},
		{10, 10, Interval{Value: 1, Low: 0.7225, High: 1}},
		{1, 2, Interval{Value: 0.5, Low: 0.0945, High: 0.9055}},
		{80, 100, Interval{Value: 0.8, Low: 0.7112, High: 0.8666}},
		{74, 93, Interval{Value: 0.7957, Low: 0.7028, High: 0.8651}},
	} {
		require.Equal(t, c.want, *Wilson(c.k, c.n), "%d of %d", c.k, c.n)
	}
}

func TestWilsonIsSymmetricAndHoldsItsValue(t *testing.T) {
	t.Parallel()
	for n := 1; n < 120; n++ {
		for k := range n + 1 {
			w, other := Wilson(k, n), Wilson(n-k, n)
			require.True(t, 0 <= w.Low && w.Low <= w.Value && w.Value <= w.High && w.High <= 1)
			require.InDelta(t, w.Low, 1-other.High, 2e-4)
		}
	}
}

func TestMcNemarAgainstKnownValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		better, worse int
		p             float64
	}{{0, 0, 1}, {1, 0, 1}, {3, 1, 0.625}, {6, 0, 0.0313}, {5, 0, 0.0625}, {10, 2, 0.0386}, {7, 7, 1}, {20_000, 20_000, 1}, {3_000, 1_000, 0}} {
		require.InDelta(t, c.p, mcNemar(c.better, c.worse), 1e-4, "%d against %d", c.better, c.worse)
		require.Equal(t, mcNemar(c.better, c.worse), mcNemar(c.worse, c.better))
	}
}

func TestQuantilesLieBetweenValues(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 2.5, quantile([]float64{1, 2, 3, 4}, 0.5), 1e-9)
	require.InDelta(t, 3.85, quantile([]float64{1, 2, 3, 4}, 0.95), 1e-9)
	require.InDelta(t, 7.0, quantile([]float64{7}, 0.95), 1e-9)
	require.Nil(t, percentiles(nil))
}

func TestP11_TheBootstrapRepeats(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	values := make([]float64, 300)
	for i := range values {
		values[i] = random.ExpFloat64() / 3
	}
	first := bootstrap(values, mean)
	slices.Reverse(values)
	require.Equal(t, first, bootstrap(values, mean), "the order of the cases means nothing")
	require.Nil(t, bootstrap(nil, mean))
	require.Equal(t, &Interval{Value: 2, Low: 2, High: 2}, bootstrap([]float64{2, 2, 2}, mean))
	require.Less(t, first.Low, first.Value)
	require.Less(t, first.Value, first.High)
}

// For many values the interval of a mean is the one of the normal distribution.
func TestTheBootstrapAgreesWithTheory(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	values, squares := make([]float64, 1_000), 0.0
	for i := range values {
		values[i] = random.NormFloat64()
	}
	m := mean(values)
	for _, v := range values {
		squares += (v - m) * (v - m)
	}
	half := 1.959963984540054 * math.Sqrt(squares/999/1_000)
	got := bootstrap(values, mean)
	require.InDelta(t, m-half, got.Low, half/10)
	require.InDelta(t, m+half, got.High, half/10)
}
