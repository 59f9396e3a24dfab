package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawn is n vectors of length 1 around a few centres, as texts on a few subjects are.
func drawn(t testing.TB, n, dimensions int) *Set {
	r := rand.New(rand.NewPCG(1, 2))
	centres := make([][]float32, 200)
	for i := range centres {
		centres[i] = direction(r, nil, dimensions)
	}
	s := NewSet(dimensions, n)
	for range n {
		v := direction(r, centres[r.IntN(len(centres))], dimensions)
		require.NoError(t, Normalize(v))
		s.Add(v)
	}
	return s
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

func TestNearestIsExactAndInOrderHoweverManyThreadsLook(t *testing.T) {
	t.Parallel()
	s := drawn(t, 9_000, 16)
	query := s.At(17)
	var all []Near
	for i := range s.Len() {
		all = append(all, Near{i, Dot(query, s.At(i))})
	}
	slices.SortStableFunc(all, before)
	require.Equal(t, all[:40], s.Nearest(query, 40, nil))
	require.Equal(t, 17, s.Nearest(query, 1, nil)[0].Index)
	even := slices.DeleteFunc(all, func(n Near) bool { return n.Index%2 == 1 })
	require.Equal(t, even[:10], s.Nearest(query, 10, func(i int) bool { return i%2 == 0 }))
	require.Empty(t, s.Nearest(query, 0, nil))
	require.Empty(t, NewSet(4, 0).Nearest(make([]float32, 4), 3, nil))
}

func TestEqualCosinesStayInTheirOrder(t *testing.T) {
	t.Parallel()
	s := NewSet(2, 5)
	for range 5 {
		s.Add([]float32{0, 1})
	}
	require.Equal(t, []Near{{0, 1}, {1, 1}, {2, 1}}, s.Nearest([]float32{0, 1}, 3, nil))
}

func TestWhatHasNoDirectionIsRefused(t *testing.T) {
	t.Parallel()
	for name, v := range map[string][]float32{
		"NaN": {1, float32(math.NaN())}, "infinite": {float32(math.Inf(-1)), 1}, "zeros": {0, 0}, "none": {},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, Normalize(v), ErrInvalid)
		})
	}
	v := []float32{3, 4}
	require.NoError(t, Normalize(v))
	require.InDeltaSlice(t, []float32{0.6, 0.8}, v, 1e-6)
	for _, packed := range [][]byte{nil, {1, 2, 3, 4}, {0, 0, 0, 0, 5}, {0, 0, 0xc0, 0x7f, 5}} {
		_, err := Unpack(packed)
		require.ErrorIs(t, err, ErrInvalid)
	}
}

func TestPackedVectorsFindNearlyTheSame(t *testing.T) {
	t.Parallel()
	s := drawn(t, 4_000, 64)
	stored := NewSet(64, s.Len())
	for i := range s.Len() {
		packed := AppendPacked(nil, s.At(i))
		require.Len(t, packed, PackedSize(64))
		v, err := Unpack(packed)
		require.NoError(t, err)
		stored.Add(v)
	}
	same := 0
	for q := range 20 {
		want := s.Nearest(s.At(q*100), 40, nil)
		for _, n := range stored.Nearest(s.At(q*100), 40, nil) {
			same += len(slices.DeleteFunc(slices.Clone(want), func(w Near) bool { return w.Index != n.Index }))
		}
	}
	require.Greater(t, float64(same)/(20*40), 0.97)
}

func BenchmarkNearest(b *testing.B) {
	s := drawn(b, 100_000, 512)
	for b.Loop() {
		s.Nearest(s.At(5), 40, nil)
	}
}
