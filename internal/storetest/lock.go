package storetest

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// lock takes locks of threads that do not exist yet.
func lock(t *testing.T, p Place) {
	release, err := p.Store.Lock(t.Context(), thread)
	require.NoError(t, err)
	busy(t, p.Store, thread)
	other, err := p.Store.Lock(t.Context(), thread+"x")
	require.NoError(t, err, "another thread's lock is its own")

	save(t, p.Store, thread, "one")
	add(t, p.Store, thread, "r1")
	holds(t, p.Store, thread, "one", "r1")
	busy(t, p.Store, thread)
	require.NoError(t, release())
	release, err = p.Store.Lock(t.Context(), thread)
	require.NoError(t, err, "a lock that was released is free")
	busy(t, p.Store, thread+"x")
	require.NoError(t, release())
	require.NoError(t, other())
	oneOf(t, p.Store, p.Store)
}

func lockShared(t *testing.T, p Place) {
	if !p.Shared {
		t.Skip("this store's locks are for one process")
	}
	save(t, p.Store, thread, "one")
	other := p.Reopen(t, thread)
	release, err := p.Store.Lock(t.Context(), thread)
	require.NoError(t, err)
	busy(t, other, thread)
	require.NoError(t, release())
	release, err = other.Lock(t.Context(), thread)
	require.NoError(t, err)
	busy(t, p.Store, thread)
	require.NoError(t, release())
	oneOf(t, p.Store, other)
}

// busy requires that a thread is locked, and that the error says by whom.
func busy(t *testing.T, s graph.Store, thread string) {
	t.Helper()
	_, err := s.Lock(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrBusy)
	require.ErrorContains(t, err, thread)
	require.Regexp(t, `this process|(process|pid) \d+`, err.Error())
}

// oneOf: of many that want a free lock at one time, one at most gets it.
func oneOf(t *testing.T, stores ...graph.Store) {
	t.Helper()
	for range 20 {
		var held, got atomic.Int32
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				release, err := stores[i%len(stores)].Lock(t.Context(), thread)
				if err != nil {
					return
				}
				got.Add(1)
				if held.Add(1) > 1 {
					t.Error("two hold one lock")
				}
				held.Add(-1)
				if err := release(); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		require.NotZero(t, got.Load())
	}
}
