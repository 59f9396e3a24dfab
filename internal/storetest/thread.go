package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// manyAppend: all are kept, those of one goroutine in its order.
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

// odd has ids that a folder's name, a key or a column could trip over; some differ in little.
var odd = []string{
	"", " ", ".", "..", "../../etc/passwd", "/", "a/b", "a\\b", "a-b", "A-b", "a b", "a\nb", "con", "é", "e\u0301",
	"\u202e", "名前#1:a",
	"'; drop table threads; --", "%s%00", strings.Repeat("long/", 200), strings.Repeat("long/", 200) + "x",
}

func oddThreads(t *testing.T, p Place) {
	for _, id := range odd {
		save(t, p.Store, id, "of "+id)
		add(t, p.Store, id, "r1 of "+id)
	}
	save(t, p.Store, "a/b", "changed")
	for _, id := range odd {
		if id == "a/b" {
			holds(t, p.Store, id, "changed")
			continue
		}
		holds(t, p.Store, id, "of "+id, "r1 of "+id)
	}
	if l, ok := p.Store.(lister); ok {
		ids, err := l.Threads(t.Context())
		require.NoError(t, err)
		require.ElementsMatch(t, odd, ids)
	}
}

type lister interface {
	Threads(ctx context.Context) ([]string, error)
}

func threads(t *testing.T, p Place) {
	s, ok := p.Store.(lister)
	if !ok {
		t.Skip("this store does not list threads")
	}
	ids, err := s.Threads(t.Context())
	require.NoError(t, err)
	require.Empty(t, ids)
	release, err := p.Store.Lock(t.Context(), "locked/alone#1:a")
	require.NoError(t, err)
	for _, id := range []string{"o/r#2:b", "o/r#1:a"} {
		save(t, p.Store, id, "one")
	}
	ids, err = s.Threads(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"o/r#1:a", "o/r#2:b"}, ids, "sorted, and no lock is a thread")
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
	add(t, p.Store, thread, "r1")
	save(t, p.Store, "o/r#1:a", "stays")
	release, err := p.Store.Lock(t.Context(), thread)
	require.NoError(t, err)
	require.NoError(t, s.Remove(t.Context(), thread))
	_, err = p.Store.Load(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrNoThread)
	require.ErrorIs(t, p.Store.Append(t.Context(), thread, []byte("r2")), graph.ErrNoThread)
	busy(t, p.Store, thread)
	require.NoError(t, release())
	holds(t, p.Store, "o/r#1:a", "stays")
	save(t, p.Store, thread, "anew")
	holds(t, p.Store, thread, "anew")
}
