package filestore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// world is what outlives the processes of a run: the disk, what the model was
// asked, what was posted, and what the store acknowledged.
type world struct {
	t    *testing.T
	what string // the point of the matrix, for messages
	disk *faultyDisk

	mu       sync.Mutex
	asked    map[string]int
	posted   int
	acked    map[string]bool // records, by what they are of
	kept     [][]byte        // records acknowledged since the last snapshot
	snapshot []byte
	replaced bool // Save was called and did not return: there may be another snapshot
}

func newWorld(t *testing.T) *world {
	return &world{t: t, disk: newFaultyDisk(), asked: map[string]int{}, acked: map[string]bool{}}
}

// witness is the store of a run; it notes what was acknowledged and holds each
// Load to it.
type witness struct {
	graph.Store
	w *world
}

func (s witness) Save(ctx context.Context, thread string, snapshot ...[]byte) error {
	s.w.replaced = true
	err := s.Store.Save(ctx, thread, snapshot...)
	if err == nil {
		s.w.snapshot, s.w.kept, s.w.replaced = slices.Concat(snapshot...), nil, false
	}
	return err
}

func (s witness) Append(ctx context.Context, thread string, parts ...[]byte) error {
	if err := s.Store.Append(ctx, thread, parts...); err != nil {
		return err
	}
	record := slices.Concat(parts...)
	r, err := graph.DecodeRecord(record)
	if err != nil {
		return err
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.kept = append(s.w.kept, record)
	if !r.Intent {
		s.w.acked[fmt.Sprintf("%s %d %s", r.Node, r.Task, r.Answer)] = true
	}
	return nil
}

func (s witness) Load(ctx context.Context, thread string) (graph.Saved, error) {
	saved, err := s.Store.Load(ctx, thread)
	if errors.Is(err, graph.ErrNoThread) {
		require.Nil(s.w.t, s.w.snapshot, "the thread is lost")
	}
	if err != nil {
		require.NotErrorIs(s.w.t, err, graph.ErrSnapshot)
		return saved, err
	}
	if string(saved.Snapshot) != string(s.w.snapshot) {
		require.True(s.w.t, s.w.replaced, "the snapshot is lost")
		return saved, nil
	}
	for _, r := range s.w.kept {
		require.True(s.w.t, slices.ContainsFunc(saved.Journal, func(j []byte) bool {
			return string(j) == string(r)
		}), "lost: %s", r)
	}
	return saved, nil
}

// runs notes that something is done, which must not be in the journal already.
func (w *world) runs(node string, task int, answer string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	what := fmt.Sprintf("%s %d %s", node, task, answer)
	w.asked[what]++
	if w.acked[what] {
		w.t.Errorf("%q is done again", what)
	}
}

// review has what the product has: a fan whose tasks pay for two answers each,
// a gate, an effect.
type review struct {
	Findings []string
	Approved bool
	Posted   int
}

const tasks, turns = 6, 2

func (w *world) flow(store graph.Store, concurrency int) (*graph.Flow[review], error) {
	g := graph.New[review]("crash", 1)
	findings := graph.Append(g, "findings", func(s *review) *[]string { return &s.Findings })
	approved := graph.Value(g, "approved", func(s *review) *bool { return &s.Approved })
	posted := graph.Value(g, "posted", func(s *review) *int { return &s.Posted })

	ingest := g.Node("ingest", func(context.Context, review) (graph.Update, error) {
		w.runs("ingest", 0, "")
		return graph.Update{}, nil
	})
	each := graph.Each(g, "review", func(ctx context.Context, _ review, i int) (graph.Update, error) {
		w.runs("review", i, "")
		var list []string
		for turn := range turns {
			key := fmt.Sprintf("turn %d", turn)
			answer, err := graph.Once(ctx, key, func(context.Context) (string, error) {
				w.runs("review", i, key)
				return fmt.Sprintf("finding %d of file %d", turn, i), nil
			})
			if err != nil {
				return graph.Update{}, err
			}
			list = append(list, answer)
		}
		return findings.Set(list), nil
	}, graph.Writes(findings), graph.Concurrency(concurrency))
	gate := graph.Gate(g, "gate",
		func(s review) ([]string, error) { return s.Findings, nil },
		func(_ review, yes bool) (graph.Update, error) { return approved.Set(yes), nil }, graph.Writes(approved))
	post := g.Effect("post",
		func(context.Context, review) (graph.Update, error) {
			w.runs("post", 0, "")
			w.posted++
			return posted.Set(1), nil
		},
		func(context.Context, review) (graph.Update, bool, error) {
			return posted.Set(w.posted), w.posted > 0, nil
		},
		graph.Writes(posted))

	g.Start(ingest)
	g.Route(ingest, func(review) graph.Next { return each.Over([]int{0, 1, 2, 3, 4, 5}) }, each)
	g.Edge(each, gate)
	g.Edge(gate, post)
	g.Edge(post, graph.End("done"))
	return g.Build(store, graph.WithClock(func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }))
}

// live is one process: it opens the store and runs to the end, if it can.
func (w *world) live(concurrency int) error {
	store, err := NewOn(w.disk, faultDir)
	if err != nil {
		return err
	}
	flow, err := w.flow(witness{store, w}, concurrency)
	if err != nil {
		return err
	}
	r, err := flow.Run(w.t.Context(), thread, review{})
	if err == nil && r.Status == graph.Paused {
		r, err = flow.Resume(w.t.Context(), thread, graph.Answer{Value: true})
	}
	if err == nil && (r.Status != graph.Ended || r.State.Posted != 1) {
		err = fmt.Errorf("it came to %+v", r)
	}
	return errors.Join(err, store.Close())
}

// finish runs processes until one reaches the end, and returns the last
// snapshot's bytes.
func (w *world) finish(concurrency int) string {
	w.t.Helper()
	w.disk.Restart()
	require.NoError(w.t, w.live(concurrency))
	require.Equal(w.t, 1, w.posted, w.what)
	require.Len(w.t, w.asked, 1+tasks*(1+turns)+1, w.what)
	saved, err := openOn(w.t, w.disk).Load(w.t.Context(), thread)
	require.NoError(w.t, err)
	return string(saved.Snapshot)
}
