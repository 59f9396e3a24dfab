package vector

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawn is n vectors of length 1 around a few centres, as texts on a few subjects are.
func drawn(t testing.TB, n, dimensions int) [][]float32 {
	r := rand.New(rand.NewPCG(1, 2))
	centres := make([][]float32, 200)
	for i := range centres {
		centres[i] = direction(r, nil, dimensions)
	}
	all := make([][]float32, n)
	for i := range all {
		all[i] = direction(r, centres[r.IntN(len(centres))], dimensions)
		require.True(t, Normalize(all[i]))
	}
	return all
}

func direction(r *rand.Rand, around []float32, dimensions int) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(r.NormFloat64())
		if around != nil {
			v[i] += around[i]
		}
	}
	return v
}

func TestWhatHasNoDirectionIsRefused(t *testing.T) {
	t.Parallel()
	for name, v := range map[string][]float32{
		"NaN": {1, float32(math.NaN())}, "infinite": {float32(math.Inf(-1)), 1}, "zeros": {0, 0}, "none": {},
	} {
		t.Run(name, func(t *testing.T) {
			require.False(t, Normalize(v))
		})
	}
	v := []float32{3, 4}
	require.True(t, Normalize(v))
	require.InDeltaSlice(t, []float32{0.6, 0.8}, v, 1e-6)
	for name, v := range map[string][]float32{"zeros": {0, 0}, "none": {}, "NaN": {1, float32(math.NaN())},
		"infinite": {float32(math.Inf(-1)), 1}} {
		require.Empty(t, Pack(v), name)
	}
	for _, packed := range []string{"", "\x01\x02\x03", "\x00\x00\x00\x00\x05", "\x00\x00\xc0\x7f\x05",
		"\x00\x00\x80\x7f\x05", "\x00\x00\x80\xbf\x05"} {
		require.False(t, IsPacked(packed, 1), "%x", packed)
	}
	require.True(t, IsPacked(Pack(v), 2))
	require.False(t, IsPacked(Pack(v), 3))
}

func TestPackedVectorsFindNearlyTheSame(t *testing.T) {
	t.Parallel()
	all := drawn(t, 4_000, 65)
	packed := make([]string, len(all))
	for i, v := range all {
		packed[i] = Pack(v)
		require.Len(t, packed[i], 4+65)
		require.True(t, IsPacked(packed[i], 65))
	}
	nearest := func(dot func(i int) float32) []int {
		places := make([]int, len(all))
		for i := range places {
			places[i] = i
		}
		slices.SortFunc(places, func(a, b int) int { return cmp.Compare(dot(b), dot(a)) })
		return places[:40]
	}
	same := 0
	for q := range 20 {
		query := all[q*100]
		asked := NewQuery(query)
		want := nearest(func(i int) float32 { return Dot(query, all[i]) })
		for _, i := range nearest(func(i int) float32 { return asked.Cosine(packed[i]) }) {
			if slices.Contains(want, i) {
				same++
			}
			require.InDelta(t, Dot(query, Unpack(packed[i])), asked.Cosine(packed[i]), 1e-4)
			require.True(t, Normalize(Unpack(packed[i])))
		}
	}
	require.Greater(t, float64(same)/(20*40), 0.97)
}

func TestTheCosineOfLongVectorsDoesNotOverflow(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 4_000, 1 << 16} {
		v := slices.Repeat([]float32{-1}, n)
		require.True(t, Normalize(v))
		require.InDelta(t, 1, NewQuery(v).Cosine(Pack(v)), 2e-3, n)
	}
}

func BenchmarkCosine(b *testing.B) {
	all := drawn(b, 1_000, 512)
	packed, q := Pack(all[5]), NewQuery(all[7])
	for b.Loop() {
		q.Cosine(packed)
	}
}
