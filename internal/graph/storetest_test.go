package graph_test

import (
	"testing"

	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/storetest"
)

func TestG26_Memory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) storetest.Place {
		m := graph.NewMemory()
		return storetest.Place{Store: m, Reopen: func(*testing.T, string) graph.Store { return m }}
	})
}
