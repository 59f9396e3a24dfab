package crash

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/graph"
)

// kept lists the questions whose answers are in a store: those of files that
// are done, and those that were kept in the middle of a file. None may be asked
// again. Order has the file of each review task.
func kept(t *testing.T, dir string, order []string) (all []string) {
	t.Helper()
	saved, ok := stored(t, dir)
	if !ok {
		return nil
	}
	snapshot, err := graph.DecodeSnapshot(saved.Snapshot)
	require.NoError(t, err)
	done := reviews(t, snapshot.Fields["fileReviews"])
	answers := map[int]int{} // by task
	for _, data := range saved.Journal {
		r, err := graph.DecodeRecord(data)
		require.NoError(t, err)
		if r.Node != "review" {
			continue
		}
		for _, v := range r.Update {
			if v.Field == "fileReviews" {
				done = append(done, reviews(t, v.Value)...)
			}
		}
		if r.Answer != "" {
			require.Less(t, r.Task, len(order))
			all = append(all, asks(order[r.Task])[answers[r.Task]]) // the answers of a file come in order
			answers[r.Task]++
		}
	}
	for _, path := range done {
		all = append(all, asks(path)...)
	}
	return all
}

// inOrder returns the files of a draft in the order of its review tasks.
func inOrder(t *testing.T, dir string) []string {
	t.Helper()
	saved, ok := stored(t, dir)
	require.True(t, ok)
	snapshot, err := graph.DecodeSnapshot(saved.Snapshot)
	require.NoError(t, err)
	return reviews(t, snapshot.Fields["fileReviews"])
}

// reviews returns the paths of a list of file reviews.
func reviews(t *testing.T, list []byte) (paths []string) {
	t.Helper()
	var all []struct{ Path string }
	require.NoError(t, json.Unmarshal(list, &all))
	for _, r := range all {
		paths = append(paths, r.Path)
	}
	return paths
}

// stored reads the one thread of a store, as a later process would. There is
// none where the process was killed before it had saved it.
func stored(t *testing.T, dir string) (saved graph.Saved, ok bool) {
	t.Helper()
	store, err := filestore.New(dir)
	require.NoError(t, err)
	threads, err := store.Threads(t.Context())
	require.NoError(t, err)
	if len(threads) == 0 {
		return saved, false
	}
	require.Len(t, threads, 1)
	saved, err = store.Load(t.Context(), threads[0])
	if errors.Is(err, graph.ErrNoThread) {
		return saved, false
	}
	require.NoError(t, err)
	return saved, true
}
