// Package storetest is the contract of graph.Store as tests (G26): the one suite that every store passes.
//
// It never looks into a store and proves everything through the interface. A store's own test calls Run; start
// reading there.
package storetest

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// Place is an empty place for threads (a folder, a database) with a store open on it. Its maker closes the stores with
// t.Cleanup.
//
// A store that also has Threads or Remove, as wire.Store describes them, must pass their tests too.
type Place struct {
	Store graph.Store
	// Reopen returns a store as a later process would open it for a thread that was saved. Store may still be open
	// then, but is not written to any more, unless it is locked again.
	Reopen func(t *testing.T, thread string) graph.Store
	// Shared says that stores open on the place at the same time see each other's locks, like those of several
	// processes.
	Shared bool
}

// Run runs the suite. It calls open once for each part, concurrently.
func Run(t *testing.T, open func(t *testing.T) Place) {
	for name, part := range map[string]func(*testing.T, Place){
		"a thread that was never saved":       neverSaved,
		"save replaces and drops the journal": saveReplaces,
		"records keep their order":            recordsKeepOrder,
		"records survive reopening":           survivesReopening,
		"many append at one time":             manyAppend,
		"odd thread ids":                      oddThreads,
		"large values":                        largeValues,
		"bytes are as they were":              bytesStay,
		"no aliases":                          noAliases,
		"a cancelled context":                 cancelled,
		"lock":                                lock,
		"lock seen by others":                 lockShared,
		"threads":                             threads,
		"remove":                              remove,
	} {
		t.Run("G26 "+name, func(t *testing.T) {
			t.Parallel()
			part(t, open(t))
		})
	}
}

const thread = "org/payments#42@docs:0123456789abcdef0123456789abcdef01234567"

func save(t *testing.T, s graph.Store, thread, snapshot string) {
	t.Helper()
	require.NoError(t, s.Save(t.Context(), thread, []byte(snapshot)))
}

func appendAll(t *testing.T, s graph.Store, thread string, records ...string) {
	t.Helper()
	for _, r := range records {
		require.NoError(t, s.Append(t.Context(), thread, []byte(r)))
	}
}

func requireThread(t *testing.T, s graph.Store, thread, snapshot string, records ...string) {
	t.Helper()
	saved, err := s.Load(t.Context(), thread)
	require.NoError(t, err)
	require.Equal(t, snapshot, string(saved.Snapshot))
	require.Equal(t, records, texts(saved.Journal))
}

func texts(journal [][]byte) (list []string) {
	for _, r := range journal {
		list = append(list, string(r))
	}
	return list
}

func neverSaved(t *testing.T, p Place) {
	_, err := p.Store.Load(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrNoThread)
	require.ErrorContains(t, err, thread)
	err = p.Store.Append(t.Context(), thread, []byte("r1"))
	require.ErrorIs(t, err, graph.ErrNoThread)
	save(t, p.Store, thread, "one")
	requireThread(t, p.Store, thread, "one")
}

func saveReplaces(t *testing.T, p Place) {
	save(t, p.Store, thread, "a longer first snapshot")
	appendAll(t, p.Store, thread, "r1", "r2")
	save(t, p.Store, thread, "two")
	requireThread(t, p.Store, thread, "two")
	appendAll(t, p.Store, thread, "r3")
	requireThread(t, p.Store, thread, "two", "r3")
	requireThread(t, p.Reopen(t, thread), thread, "two", "r3")
}

func recordsKeepOrder(t *testing.T, p Place) {
	save(t, p.Store, thread, "one")
	var want []string
	for i := range 100 {
		want = append(want, fmt.Sprintf("r%d", i))
	}
	appendAll(t, p.Store, thread, want...)
	requireThread(t, p.Store, thread, "one", want...)
}

func survivesReopening(t *testing.T, p Place) {
	save(t, p.Store, thread, "one")
	appendAll(t, p.Store, thread, "r1", "r2")
	again := p.Reopen(t, thread)
	requireThread(t, again, thread, "one", "r1", "r2")
	appendAll(t, again, thread, "r3")
	requireThread(t, again, thread, "one", "r1", "r2", "r3")
	save(t, again, thread, "two")
	requireThread(t, again, thread, "two")
}

// bytesStay stores bytes that a store's own format could trip over.
func bytesStay(t *testing.T, p Place) {
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	list := []string{"\x00", "\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\n", "r\n", string(all), "\xff\xfe", `{"a": 1}`}
	save(t, p.Store, thread, string(all))
	appendAll(t, p.Store, thread, list...)
	requireThread(t, p.Store, thread, string(all), list...)
	requireThread(t, p.Reopen(t, thread), thread, string(all), list...)
}

func largeValues(t *testing.T, p Place) {
	snapshot := bytes.Repeat([]byte("snapshot"), 1<<20)
	record := bytes.Repeat([]byte("a record"), 1<<20)
	require.NoError(t, p.Store.Save(t.Context(), thread, snapshot))
	require.NoError(t, p.Store.Append(t.Context(), thread, record))
	saved, err := p.Reopen(t, thread).Load(t.Context(), thread)
	require.NoError(t, err)
	require.True(t, bytes.Equal(snapshot, saved.Snapshot))
	require.Len(t, saved.Journal, 1)
	require.True(t, bytes.Equal(record, saved.Journal[0]))
}

// noAliases checks that either side may append to the slices it has without changing the other's, and that a loaded
// thread stays as it was.
func noAliases(t *testing.T, p Place) {
	save(t, p.Store, thread, "one")
	appendAll(t, p.Store, thread, "r1", "r2", "r3")
	before, err := p.Store.Load(t.Context(), thread)
	require.NoError(t, err)
	appendAll(t, p.Store, thread, "r4")
	_ = append(before.Journal, []byte("mine"))
	_ = append(before.Snapshot, "mine"...)
	for _, r := range before.Journal {
		_ = append(r, "mine"...)
	}
	requireThread(t, p.Store, thread, "one", "r1", "r2", "r3", "r4")
	save(t, p.Store, thread, "two")
	require.Equal(t, "one", string(before.Snapshot))
	require.Equal(t, []string{"r1", "r2", "r3"}, texts(before.Journal))
}

// cancelled checks that a write is either done, or refused as cancelled without a trace.
func cancelled(t *testing.T, p Place) {
	save(t, p.Store, thread, "one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	snapshot, records := "one", []string(nil)
	done := func(err error) bool {
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		return err == nil
	}
	if done(p.Store.Append(ctx, thread, []byte("r1"))) {
		records = []string{"r1"}
	}
	requireThread(t, p.Store, thread, snapshot, records...)
	if done(p.Store.Save(ctx, thread, []byte("two"))) {
		snapshot, records = "two", nil
	}
	requireThread(t, p.Store, thread, snapshot, records...)
	release, err := p.Store.Lock(ctx, thread)
	if done(err) {
		require.NoError(t, release())
	}
	release, err = p.Store.Lock(t.Context(), thread)
	require.NoError(t, err, "a lock that was not handed out is not held")
	require.NoError(t, release())
}
