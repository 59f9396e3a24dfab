package order_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/order"
)

type row struct{ key, place int }

func byKey(a, b row) int { return cmp.Compare(a.key, b.key) }

func TestStableSortsAsTheStandardLibraryDoes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		list := make([]row, n)
		for i := range list {
			list[i] = row{random.IntN(1 + n/4), i}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		order.Stable(list, byKey)
		require.Equal(t, want, list)
	}
}

func TestStableLeavesNoListAlone(t *testing.T) {
	t.Parallel()
	var none []row
	order.Stable(none, byKey)
	require.Nil(t, none)
}

func TestGroupedKeepsTheOrderInWhichKeysAppear(t *testing.T) {
	t.Parallel()
	byKey := func(r row) int { return r.key }
	require.Equal(t, [][]row{{{2, 0}, {2, 2}}, {{1, 1}}}, order.Grouped([]row{{2, 0}, {1, 1}, {2, 2}}, byKey))
	require.Empty(t, order.Grouped(nil, byKey))
}

func TestUniqueKeepsTheFirstOfEachKey(t *testing.T) {
	t.Parallel()
	list := []row{{2, 0}, {1, 1}, {2, 2}, {3, 3}, {1, 4}}
	require.Equal(t, []row{{2, 0}, {1, 1}, {3, 3}}, order.Unique(list, func(r row) int { return r.key }))
}

func TestAheadKeepsTheOrderOfBothParts(t *testing.T) {
	t.Parallel()
	even := func(n int) bool { return n%2 == 0 }
	require.Equal(t, []int{4, 2, 5, 1, 3}, order.Ahead([]int{5, 4, 1, 2, 3}, even))
}
