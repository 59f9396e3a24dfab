package index_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/indextest"
	"github.com/org/pr-review-action/internal/tree"
	"github.com/org/pr-review-action/internal/vector"
)

func TestAnIndexInMemoryKeepsTheContract(t *testing.T) {
	t.Parallel()
	indextest.Run(t, func(_ *testing.T, x *index.Index) *index.Source { return x.Source })
}

func TestAStoredIndexKeepsTheContract(t *testing.T) {
	t.Parallel()
	indextest.Run(t, func(t *testing.T, x *index.Index) *index.Source {
		c := index.Cache{Folder: t.TempDir()}
		if err := c.Keep("a", x); err != nil {
			t.Fatal(err)
		}
		stored, _ := c.Load("a")
		return stored.Source
	})
}

// Most of it in the index of the commit before, which also has what has gone since.
func TestAnIndexOverAnotherKeepsTheContract(t *testing.T) {
	t.Parallel()
	indextest.Run(t, func(t *testing.T, x *index.Index) *index.Source {
		before := with(indextest.Files, map[string]string{"ui/format.ts": "export function old(cents) {\n}\n",
			"old.go": "func AddItem() {\n\tcheckStock()\n}\n"})
		base := indextest.Build(t, before)
		if x.Vectors().Model != "" {
			base = base.WithVectors("m", 2, byKey(x))
		}
		next, _, err := index.Build(t.Context(), tree.Files(indextest.Files), base,
			index.Options{Cut: indextest.Cut, Made: "paragraphs"})
		require.NoError(t, err)
		if x.Vectors().Model != "" {
			next = next.WithVectors("m", 2, byKey(x))
		}
		return next.Source
	})
}

// byKey are the vectors of an index.
func byKey(x *index.Index) map[string][]float32 {
	all, chunks := map[string][]float32{}, x.Chunks()
	for n, v := range x.EachVector() {
		all[chunks[n].Key()] = v
	}
	return all
}

func TestVectorsStayWithTheChunksOfAChangedFileThatDidNotChange(t *testing.T) {
	t.Parallel()
	base, all := indextest.Build(t, indextest.Files), map[string][]float32{}
	for _, c := range base.Chunks() {
		all[c.Key()] = []float32{0, 1}
	}
	base = base.WithVectors("m", 2, all)
	require.Zero(t, base.Vectors().Missing)
	files := with(indextest.Files, map[string]string{"cart/cart.go": "package cart\n\nfunc AddItem(sku string) {\n}\n\n" +
		"func Total() int {\n\treturn 0\n}\n"})
	for _, made := range []string{"paragraphs", "by another version"} {
		next, _, err := index.Build(t.Context(), tree.Files(files), base, index.Options{Cut: indextest.Cut, Made: made})
		require.NoError(t, err)
		require.Equal(t, index.VectorsInfo{Model: "m", Dimensions: 2, Missing: 1}, next.Vectors())
		require.Equal(t, "AddItem", next.Without("m")[0].Name)
		require.Len(t, next.Without("another model"), len(next.Chunks()))
	}
	again, _, err := index.Build(t.Context(), tree.Files(indextest.Files), base,
		index.Options{Cut: indextest.Cut, Made: "paragraphs"})
	require.NoError(t, err)
	require.Same(t, base, again, "nothing changed")
}

func TestTheNearestVectorsAreFoundInOrderHoweverManyThreadsLook(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 900 {
		files[fmt.Sprintf("p%d/f%03d.go", i%2, i)] = fmt.Sprintf("func F%d() {\n}\n", i)
	}
	x, r, all := indextest.Build(t, files), rand.New(rand.NewPCG(1, 2)), map[string][]float32{}
	var v []float32
	for i, c := range x.Chunks() {
		switch i % 3 { // of three chunks two have the same vector, and one has none
		case 0:
			v = []float32{float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64())}
			require.True(t, vector.Normalize(v))
			fallthrough
		case 1:
			all[c.Key()] = v
		}
	}
	x = x.WithVectors("m", 3, all)
	require.Equal(t, 300, x.Vectors().Missing)
	query := []float32{0, 0.6, 0.8}
	for _, folder := range []string{"p1/", ""} {
		var want []index.Near
		chunks := x.Chunks()
		for n, v := range x.EachVector() {
			if strings.HasPrefix(chunks[n].Path, folder) {
				want = append(want, index.Near{Place: n, Score: float64(vector.Dot(query, v))})
			}
		}
		slices.SortStableFunc(want, func(a, b index.Near) int { return cmp.Compare(b.Score, a.Score) })
		filter := []string{folder + "**"}
		got, err := x.Similar(t.Context(), query, len(want)+9, filter)
		require.NoError(t, err)
		require.Len(t, got, len(want), "also those that point elsewhere")
		for i, h := range got {
			require.Equal(t, chunks[want[i].Place].ID(), h.ID(), i)
			require.InDelta(t, want[i].Score, h.Score, 1e-4)
		}
		few, err := x.Similar(t.Context(), query, 7, filter)
		require.NoError(t, err)
		require.Equal(t, got[:7], few)
	}
}
