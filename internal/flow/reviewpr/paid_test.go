package reviewpr_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
)

// counting notes which files were asked about.
func counting(asked map[string]int, next reviewer) reviewer {
	var mu sync.Mutex
	return func(ctx context.Context, f diff.File) (finding.FileReview, error) {
		mu.Lock()
		asked[f.Path]++
		mu.Unlock()
		return next(ctx, f)
	}
}

// after is a world at another head, which knows what was paid in the first.
func after(t *testing.T, w *world, head string, asked map[string]int) *world {
	t.Helper()
	next := &world{change: w.change, store: graph.NewMemory(), reviewer: counting(asked, w.reviewer)}
	p := *w.change.Pull
	p.HeadSHA = head
	next.change.Head, next.change.Pull, next.change.Thread = head, &p, pull.ThreadID(ref, "", head)
	saved, err := w.store.Load(t.Context(), w.change.Thread)
	require.NoError(t, err)
	next.paid.Add(saved, next.change.Thread)
	return next
}

func TestP4_AnotherCommitPaysForWhatChangedAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(finds(finding.Major), "a.go", "b.go", "c.go")
	first := w.run(t)
	asked := map[string]int{}
	next := after(t, w, strings.Repeat("ef", 20), asked)
	next.change.Files[1].Patch += "\n+3"
	again := next.flow(t)
	r, err := again.Run(t.Context(), next.change.Thread, next.draft())
	require.NoError(t, err)
	require.Equal(t, map[string]int{"b.go": 1}, asked)
	require.Equal(t, 2, r.State.Reused)
	require.Equal(t, 2, r.State.Review().Reused)
	require.EqualValues(t, 1, r.State.Usage.Calls, "what another thread paid is not this one's cost")
	require.Equal(t, len(first.State.Comments), len(r.State.Comments))
	require.Zero(t, first.State.Reused)
}

func TestP4_AnEarlierAttemptsCostStaysTheThreads(t *testing.T) {
	t.Parallel()
	w := newWorld(finds(finding.Major), "a.go", "b.go")
	first := w.run(t)
	asked := map[string]int{}
	next := after(t, w, head, asked)
	r := next.run(t)
	require.Empty(t, asked)
	require.Equal(t, 2, r.State.Reused)
	require.Equal(t, first.State.Usage, r.State.Usage)
	require.Equal(t, first.State.Comments, r.State.Comments)
}

func TestOnlyAnAnswerIsTakenFromAnEarlierRun(t *testing.T) {
	t.Parallel()
	w := newWorld(func(_ context.Context, f diff.File) (finding.FileReview, error) {
		state := map[string]finding.State{"a.go": finding.Reviewed, "b.go": finding.Partly, "c.go": finding.Failed,
			"d.go": finding.Skipped}[f.Path]
		return finding.FileReview{Path: f.Path, State: state, Reason: "r", Usage: cost.Usage{Calls: 1}}, nil
	}, "a.go", "b.go", "c.go", "d.go")
	w.run(t)
	asked := map[string]int{}
	after(t, w, head, asked).run(t)
	require.Equal(t, map[string]int{"c.go": 1, "d.go": 1}, asked)
}

func TestPaidOfTheThreadItselfAndInFullIsPreferred(t *testing.T) {
	t.Parallel()
	state := finding.Reviewed
	mine := newWorld(func(_ context.Context, f diff.File) (finding.FileReview, error) {
		return finding.FileReview{Path: f.Path, State: state, Usage: cost.Usage{Calls: 1}}, nil
	}, "a.go")
	mine.change.Unlisted = 1 // parks
	mine.run(t)
	full, partly := after(t, mine, strings.Repeat("ef", 20), map[string]int{}),
		after(t, mine, strings.Repeat("01", 20), map[string]int{})
	full.paid, partly.paid = reviewpr.Paid{}, reviewpr.Paid{}
	full.run(t)
	state = finding.Partly
	partly.run(t)
	load := func(w *world) graph.Saved {
		saved, err := w.store.Load(t.Context(), w.change.Thread)
		require.NoError(t, err)
		return saved
	}
	for i, order := range [][]*world{{mine, full, partly}, {partly, full, mine}, {full, mine, partly},
		{partly, mine, full}} {
		last := &world{change: mine.change, store: graph.NewMemory(), reviewer: mine.reviewer}
		for _, w := range order {
			last.paid.Add(load(w), mine.change.Thread)
		}
		s := last.run(t).State
		require.Equal(t, finding.Reviewed, s.Coverage()[0].State, "added in the order %d", i)
		require.EqualValues(t, 1, s.Usage.Calls, "added in the order %d", i)
	}
}

func TestWhatDoesNotDecodeIsNotPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(finds(finding.Major), "a.go")
	w.run(t)
	saved, err := w.store.Load(t.Context(), w.change.Thread)
	require.NoError(t, err)
	asked := map[string]int{}
	next := &world{change: w.change, store: graph.NewMemory(), reviewer: counting(asked, w.reviewer)}
	for _, bad := range []graph.Saved{
		{}, {Snapshot: []byte("{}")}, {Snapshot: saved.Snapshot[1:]},
		{Snapshot: append(saved.Snapshot[:len(saved.Snapshot):len(saved.Snapshot)], ' ', 'x')},
		{Journal: [][]byte{[]byte(`{"step":3,"node":"review","task":0,"update":[{"field":"fileReviews","value":7}]}`),
			nil, []byte("x")}},
	} {
		next.paid.Add(bad, w.change.Thread)
	}
	next.run(t)
	require.Equal(t, map[string]int{"a.go": 1}, asked)
}

// TestG31 simulates a job that was killed after it posted and before it recorded that.
func TestG31_AnIntentWithoutAnOutcomeIsLookedUpBeforePosting(t *testing.T) {
	t.Parallel()
	for name, stands := range map[string]bool{"it stands": true, "it does not": false} {
		w := newWorld(finds(finding.Major), "a.go")
		id := w.run(t).Pending[0].ID
		posts, looks := 0, 0
		steps := reviewpr.Steps{
			Ingest: func(context.Context) (ingest.Change, error) { return w.change, nil },
			Post: func(context.Context, reviewpr.State) (post.Posted, error) {
				if posts++; posts == 1 {
					return post.Posted{}, context.DeadlineExceeded
				}
				return post.Posted{URL: "https://x/2"}, nil
			},
			Posted: func(context.Context, reviewpr.State) (post.Posted, bool, error) {
				looks++
				return post.Posted{URL: "https://x/1"}, stands, nil
			},
		}
		flow, err := reviewpr.New(steps, w.store)
		require.NoError(t, err)
		_, err = flow.Resume(t.Context(), w.change.Thread, answer(t, w, id, "/approve"))
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		require.Zero(t, looks, "%s: the first attempt has nothing to look up", name)
		r, err := flow.Continue(t.Context(), w.change.Thread)
		require.NoError(t, err, name)
		require.Equal(t, reviewpr.Posted, r.End, name)
		require.Equal(t, 1, looks, name)
		require.Equal(t, map[bool]int{true: 1, false: 2}[stands], posts, name)
		require.Equal(t, map[bool]string{true: "https://x/1", false: "https://x/2"}[stands], r.State.ReviewURL, name)
	}
}
