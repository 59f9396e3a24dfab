package index_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/indextest"
	"github.com/org/pr-review-action/internal/tree"
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
			base = base.WithVectorsOf(x)
		}
		next, _, err := index.Build(t.Context(), tree.Files(indextest.Files), base,
			index.Options{Cut: indextest.Cut, Made: "paragraphs"})
		require.NoError(t, err)
		c := index.Cache{Folder: t.TempDir()}
		require.NoError(t, c.Keep("a", next))
		require.Len(t, layers(t, c), 2)
		return next.WithVectorsOf(x).Source
	})
}
