package index_test

import (
	"testing"

	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/indextest"
)

func TestAnIndexInMemoryKeepsTheContract(t *testing.T) {
	t.Parallel()
	indextest.Run(t, func(_ *testing.T, x *index.Index) index.Source { return x })
}

func TestAStoredIndexKeepsTheContract(t *testing.T) {
	t.Parallel()
	indextest.Run(t, func(t *testing.T, x *index.Index) index.Source {
		path := t.TempDir() + "/folder/one"
		if err := x.Save(path); err != nil {
			t.Fatal(err)
		}
		stored, err := index.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return stored
	})
}
