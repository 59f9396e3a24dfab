package reviewpr_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
)

// slow takes a minute for a file and, where it is cut off, has cost something.
func slow(s finding.Severity) reviewer {
	return func(ctx context.Context, f diff.File) (finding.FileReview, error) {
		select {
		case <-time.After(time.Minute):
			return finds(s)(ctx, f)
		case <-ctx.Done():
			return finding.FileReview{Path: f.Path, Usage: cost.Usage{Calls: 1, Cost: 7}}, ctx.Err()
		}
	}
}

func many(n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf("f%02d.go", i))
	}
	return paths
}

func states(s reviewpr.State) map[string]int {
	n := map[string]int{}
	for _, f := range s.Coverage() {
		n[string(f.State)+" "+string(f.Reason)]++
	}
	return n
}

func TestG33_AtTheDeadlineTheDraftHoldsWhatThereIs(t *testing.T) {
	t.Parallel()
	for name, severity := range map[string]finding.Severity{"with findings": finding.Major, "with none": ""} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(slow(severity), many(20)...)
			w.deadline = time.Now().Add(90 * time.Second)
			r := w.run(t)
			require.Zero(t, time.Until(w.deadline), "nothing runs on behind it")
			require.Equal(t, graph.Paused, r.Status, name)
			require.Equal(t, map[string]int{"reviewed ": 8, "not_reached the time was up": 12}, states(r.State))
			require.True(t, r.State.Partial())
			require.True(t, r.State.NeedsDecision(), "not read is not clean")
			require.Equal(t, reviewpr.Paused, r.State.Outcome())
			require.EqualValues(t, 8*100+8*7, r.State.Usage.Cost, "what was given up was paid all the same")
			for _, f := range r.State.Coverage() {
				require.Contains(t, r.State.Shown(), f.Path, "the draft names it")
			}
			require.Contains(t, r.State.Shown(), "the time was up")

			again, err := w.flow(t).Continue(t.Context(), w.change.Thread)
			require.NoError(t, err)
			require.Equal(t, r.State.SummaryBody, again.State.SummaryBody, "the draft is as it was shown")
			_, err = w.decide(t, r.Pending[0].ID, "/approve")
			require.NoError(t, err, "it can be decided past the deadline of its making")
		})
	}
}

func TestG33_ARunThatReadNothingInTimeFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(slow(finding.Major), many(3)...)
		w.deadline = time.Now().Add(time.Second)
		r := w.run(t)
		require.Equal(t, reviewpr.Failed, r.End)
		require.Equal(t, "no file was reviewed: the time was up", r.State.Reason)
	})
}

func TestG33_WhenTheBudgetIsSpentTheDraftHoldsWhatThereIs(t *testing.T) {
	t.Parallel()
	for after, want := range map[int64]string{0: reviewpr.Failed, 5: ""} {
		var asked atomic.Int64
		w := newWorld(func(ctx context.Context, f diff.File) (finding.FileReview, error) {
			if asked.Add(1) > after {
				return finding.FileReview{}, fmt.Errorf("a file: %w", cost.ErrSpent)
			}
			return finds(finding.Major)(ctx, f)
		}, many(40)...)
		r := w.run(t)
		require.Equal(t, want, r.End)
		require.Equal(t, 40-int(after), states(r.State)["not_reached the budget was spent"])
		require.LessOrEqual(t, asked.Load(), after+reviewpr.DefaultConcurrency, "nothing more is started")
		if want != "" {
			require.Equal(t, "no file was reviewed: the budget was spent", r.State.Reason)
			continue
		}
		packed, err := reviewpr.Subject().Pack(t.Context(), w.flow(t), w.store, w.change.Thread,
			checkpoint.Protection{})
		require.NoError(t, err)
		require.Equal(t, 5, packed.Manifest.Findings)
	}
}

// It drafts again at the same head, where the first eight are paid.
func TestP4_APartialDraftIsCompletedByTheNextRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(slow(finding.Major), many(20)...)
		w.deadline = time.Now().Add(90 * time.Second)
		w.run(t)
		asked := map[string]int{}
		w.reviewer = finds(finding.Major)
		next := after(t, w, head, asked)
		r, err := next.flow(t).Run(t.Context(), next.change.Thread, next.draft())
		require.NoError(t, err)
		require.Len(t, finding.Kept(r.State.Comments), 20)
		require.Len(t, asked, 12)
		require.Equal(t, 8, r.State.Reused)
	})
}
