package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// manyAppend checks that all records are kept, those of one goroutine in its order.
func manyAppend(t *testing.T, p Place) {
	const writers, each = 16, 25
	save(t, p.Store, thread, "one")
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				if err := p.Store.Append(t.Context(), thread, fmt.Appendf(nil, "%02d-%02d", w, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	saved, err := p.Reopen(t, thread).Load(t.Context(), thread)
	require.NoError(t, err)
	got := texts(saved.Journal)
	require.Len(t, got, writers*each)
	for w := range writers {
		own := slices.DeleteFunc(slices.Clone(got), func(r string) bool {
			return !strings.HasPrefix(r, fmt.Sprintf("%02d-", w))
		})
		require.Len(t, own, each)
		require.IsIncreasing(t, own)
	}
}

// oddIDs has ids that a folder's name, a key or a column could trip over; some differ only slightly.
var oddIDs = []string{
	"", " ", ".", "..", "../../etc/passwd", "/", "a/b", "a\\b", "a-b", "A-b", "a b", "a\nb", "con", "é", "e\u0301",
	"\u202e", "名前#1:a",
	"'; drop table threads; --", "%s%00", strings.Repeat("long/", 200), strings.Repeat("long/", 200) + "x",
}

func oddThreads(t *testing.T, p Place) {
	for _, id := range oddIDs {
		save(t, p.Store, id, "of "+id)
		appendAll(t, p.Store, id, "r1 of "+id)
	}
	save(t, p.Store, "a/b", "changed")
	for _, id := range oddIDs {
		if id == "a/b" {
			requireThread(t, p.Store, id, "changed")
			continue
		}
		requireThread(t, p.Store, id, "of "+id, "r1 of "+id)
	}
	requireThreads(t, p.Store, slices.Sorted(slices.Values(oddIDs))...)
}

type lister interface {
	Threads(ctx context.Context) ([]string, error)
}

// requireThreads requires that a store that lists threads has these, in byte order, and no others.
func requireThreads(t *testing.T, s graph.Store, want ...string) {
	t.Helper()
	if s, ok := s.(lister); ok {
		ids, err := s.Threads(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, slices.Concat(ids)) // nil if empty
	}
}

func threads(t *testing.T, p Place) {
	if _, ok := p.Store.(lister); !ok {
		t.Skip("this store does not list threads")
	}
	requireThreads(t, p.Store)
	release, err := p.Store.Lock(t.Context(), "locked/alone#1:a")
	require.NoError(t, err)
	for _, id := range []string{"o/r#2:b", "o/r#1:a"} {
		save(t, p.Store, id, "one")
	}
	requireThreads(t, p.Store, "o/r#1:a", "o/r#2:b") // no lock is a thread
	require.NoError(t, release())
}

type remover interface {
	Remove(ctx context.Context, thread string) error
}

func remove(t *testing.T, p Place) {
	s, ok := p.Store.(remover)
	if !ok {
		t.Skip("this store does not remove threads")
	}
	require.NoError(t, s.Remove(t.Context(), thread), "one that is not there is no error")
	save(t, p.Store, thread, "one")
	appendAll(t, p.Store, thread, "r1")
	save(t, p.Store, "o/r#1:a", "stays")
	release, err := p.Store.Lock(t.Context(), thread)
	require.NoError(t, err)
	require.NoError(t, s.Remove(t.Context(), thread))
	_, err = p.Store.Load(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrNoThread)
	require.ErrorIs(t, p.Store.Append(t.Context(), thread, []byte("r2")), graph.ErrNoThread)
	requireBusy(t, p.Store, thread)
	require.NoError(t, release())
	requireThreads(t, p.Store, "o/r#1:a")
	requireThread(t, p.Store, "o/r#1:a", "stays")
	save(t, p.Store, thread, "anew")
	requireThread(t, p.Store, thread, "anew")
}

// lock checks locks of threads that do not exist yet.
func lock(t *testing.T, p Place) {
	release, err := p.Store.Lock(t.Context(), thread)
	require.NoError(t, err)
	requireBusy(t, p.Store, thread)
	other, err := p.Store.Lock(t.Context(), thread+"x")
	require.NoError(t, err, "another thread's lock is its own")

	save(t, p.Store, thread, "one")
	appendAll(t, p.Store, thread, "r1")
	requireThread(t, p.Store, thread, "one", "r1")
	requireBusy(t, p.Store, thread)
	require.NoError(t, release())
	release, err = p.Store.Lock(t.Context(), thread)
	require.NoError(t, err, "a lock that was released is free")
	requireBusy(t, p.Store, thread+"x")
	require.NoError(t, release())
	require.NoError(t, other())
	requireExclusive(t, p.Store, p.Store)
}

func lockShared(t *testing.T, p Place) {
	if !p.Shared {
		t.Skip("this store's locks are for one process")
	}
	save(t, p.Store, thread, "one")
	appendAll(t, p.Store, thread, "r1")
	other := p.Reopen(t, thread)
	release, err := p.Store.Lock(t.Context(), thread)
	require.NoError(t, err)
	requireBusy(t, other, thread)
	require.NoError(t, release())
	release, err = other.Lock(t.Context(), thread)
	require.NoError(t, err)
	requireBusy(t, p.Store, thread)
	save(t, other, thread, "two")
	appendAll(t, other, thread, "r2")
	require.NoError(t, release())
	release, err = p.Store.Lock(t.Context(), thread)
	require.NoError(t, err)
	appendAll(t, p.Store, thread, "r3")
	requireThread(t, p.Store, thread, "two", "r2", "r3")
	require.NoError(t, release())
	requireExclusive(t, p.Store, other)
}

// requireBusy requires that a thread is locked, and that the error names the owner.
func requireBusy(t *testing.T, s graph.Store, thread string) {
	t.Helper()
	_, err := s.Lock(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrBusy)
	require.ErrorContains(t, err, thread)
	require.Regexp(t, `this process|(process|pid) \d+`, err.Error())
}

// requireExclusive checks that at most one of many concurrent callers gets a free lock.
func requireExclusive(t *testing.T, stores ...graph.Store) {
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
