package reviewpr_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/handofftest"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/review"
)

var errKilled = errors.New("killed")

// mortal is a store whose process is killed at its n-th write: before it, or
// after it and before anybody learns of it. From then on it refuses everything.
type mortal struct {
	*graph.Memory
	mu       sync.Mutex
	at       int // 0 for never
	after    bool
	writes   int
	answered map[string]bool // keys of the answers that are in the journal
	finished int             // files whose result is
}

func (m *mortal) write(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	dead := m.at > 0 && m.writes >= m.at
	if dead && (!m.after || m.writes > m.at) {
		return errKilled
	}
	if err := do(); err != nil || dead {
		return errors.Join(err, errKilled)
	}
	return nil
}

func (m *mortal) Save(ctx context.Context, thread string, snapshot ...[]byte) error {
	return m.write(func() error { return m.Memory.Save(ctx, thread, snapshot...) })
}

func (m *mortal) Append(ctx context.Context, thread string, data ...[]byte) error {
	return m.write(func() error {
		if r, err := graph.DecodeRecord(slices.Concat(data...)); err == nil && r.Answer != "" {
			m.answered[r.Answer] = true
		} else if r.Node == "review" {
			m.finished++
		}
		return m.Memory.Append(ctx, thread, data...)
	})
}

// scripted is a model that needs a second turn for every third file, and bills
// every call.
type scripted struct{}

func (scripted) Identity() string { return "scripted" }

func (scripted) Chat(_ context.Context, r llm.Request) (llm.Answer, error) {
	data := llmtest.Data(r.User)
	line := `{"line":2,"severity":"major","title":"Claim about ` + strings.TrimSpace(data["path"]) +
		`","confidence":0.9}`
	if _, repair := data["answer"]; !repair && strings.Contains(data["path"], "-3.go") {
		line = strings.Replace(line, "major", "grave", 1)
	}
	return llm.Answer{Text: `{"findings":[` + line + `]}`, Usage: cost.Usage{Calls: 1, Cost: 100}}, nil
}

// twelve are files of which four need two turns.
func twelve() ingest.Change {
	var paths []string
	for i := range 12 {
		paths = append(paths, fmt.Sprintf("f%d-%d.go", i, i%3+1))
	}
	return changed(paths...)
}

// modelRun drafts with the scripted model. asked counts the calls by key.
func modelRun(t *testing.T, store graph.Store, paid reviewpr.Paid,
	asked map[string]int) (checkpoint.Draft, reviewpr.State, error) {
	t.Helper()
	var mu sync.Mutex
	model := review.NewModel(review.Options{Review: scripted{}})
	model.Once = func(ctx context.Context, key string,
		do func(context.Context) (review.Recorded, error)) (review.Recorded, error) {
		return paid.Once(ctx, key, func(ctx context.Context) (review.Recorded, error) {
			mu.Lock()
			asked[key]++
			mu.Unlock()
			return do(ctx)
		})
	}
	w := &world{change: twelve(), store: store}
	flow, err := reviewpr.New(reviewpr.Steps{
		Reviewer: model, Concurrency: 3, Paid: paid,
		Ingest: func(context.Context) (ingest.Change, error) { return w.change, nil },
	}, store, graph.WithClock(func() time.Time { return made }))
	require.NoError(t, err)
	r, err := flow.Run(t.Context(), w.change.Thread, w.draft())
	if err != nil {
		return checkpoint.Draft{}, r.State, err
	}
	packed, err := reviewpr.Subject().Pack(t.Context(), flow, store, w.change.Thread, checkpoint.Protection{})
	return packed, r.State, err
}

// TestP4_P11_ARunKilledAtAnyWriteGoesOn kills a run at each of its writes, before
// and after it takes hold, and runs it again to the end.
func TestP4_P11_ARunKilledAtAnyWriteGoesOnToTheSameBytes(t *testing.T) {
	t.Parallel()
	whole := &mortal{Memory: graph.NewMemory(), answered: map[string]bool{}}
	asked := map[string]int{}
	want, _, err := modelRun(t, whole, reviewpr.Paid{}, asked)
	require.NoError(t, err)
	require.Len(t, asked, 16)
	points := 0
	for at := 1; at <= whole.writes; at++ {
		for _, after := range []bool{false, true} {
			store := &mortal{Memory: graph.NewMemory(), at: at, after: after, answered: map[string]bool{}}
			_, _, err := modelRun(t, store, reviewpr.Paid{}, map[string]int{})
			require.ErrorIs(t, err, errKilled)
			store.at = 0
			kept, again := maps.Clone(store.answered), map[string]int{}
			got, _, err := modelRun(t, store, reviewpr.Paid{}, again)
			require.NoError(t, err)
			for key := range kept {
				require.Zero(t, again[key], "killed at write %d, after %t", at, after)
			}
			require.Len(t, again, len(asked)-len(kept), "and all others are asked for")
			require.Equal(t, want.Zip, got.Zip, "killed at write %d, after %t", at, after)
			points++
		}
	}
	t.Logf("%d points", points)
}

// TestP4_AnotherMachineGoesOnFromAPartialCheckpoint carries what a killed run
// had to a machine with an empty store.
func TestP4_AnotherMachineGoesOnFromAPartialCheckpoint(t *testing.T) {
	t.Parallel()
	thread := twelve().Thread
	undisturbed := &mortal{Memory: graph.NewMemory(), answered: map[string]bool{}}
	_, want, err := modelRun(t, undisturbed, reviewpr.Paid{}, map[string]int{})
	require.NoError(t, err)
	for at := 1; at <= undisturbed.writes; at++ {
		store := &mortal{Memory: graph.NewMemory(), at: at, after: true, answered: map[string]bool{}}
		_, _, err := modelRun(t, store, reviewpr.Paid{}, map[string]int{})
		require.ErrorIs(t, err, errKilled)
		saved, err := store.Load(t.Context(), thread)
		require.NoError(t, err)
		packed, err := reviewpr.PackPartial(saved, 1, checkpoint.Protection{})
		if errors.Is(err, handoff.ErrNotRead) {
			require.Empty(t, store.answered)
			continue
		}
		require.NoError(t, err)
		opened, err := handofftest.Open(packed.Zip)
		require.NoError(t, err)
		carried, err := checkpoint.DecodeSaved(opened.Snapshot)
		require.NoError(t, err)
		var paid reviewpr.Paid
		paid.Add(carried, thread)
		asked := map[string]int{}
		_, got, err := modelRun(t, graph.NewMemory(), paid, asked)
		require.NoError(t, err)
		for key := range store.answered {
			require.Zero(t, asked[key], "killed behind write %d", at)
		}
		require.Equal(t, store.finished, got.Reused)
		require.Equal(t, want.Comments, got.Comments)
		require.Equal(t, want.Usage, got.Usage, "an earlier attempt's cost is the thread's")
	}
}
