package reviewpr_test

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handofftest"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/review"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // they allocate much and keep little
	goleak.VerifyTestMain(m)
}

var (
	head = strings.Repeat("ab", 20)
	ref  = pull.Ref{Host: "github.com", Owner: "o", Repo: "r", Number: 42}
	made = time.Date(2026, 11, 21, 14, 10, 0, 0, time.UTC)
)

// changed is a pull request that adds one line to each file.
func changed(paths ...string) ingest.Change {
	c := ingest.Change{
		Name: "#42", Thread: pull.ThreadID(ref, "", head), Head: head, Config: config.Default(),
		Pull: &pull.Pull{Ref: ref, RepoID: 7, State: "open", BaseSHA: strings.Repeat("cd", 20), HeadSHA: head},
	}
	for _, path := range paths {
		c.Files = append(c.Files, diff.File{Path: path, Status: diff.Modified, Additions: 1,
			Patch: "@@ -1 +1,2 @@\n 1\n+2"})
	}
	return c
}

// reviewer is a function that reviews.
type reviewer func(context.Context, diff.File) (finding.FileReview, error)

func (r reviewer) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	return r(ctx, f)
}

func (reviewer) Key(f diff.File) string { return review.Key("reviewer", f) }

// finds reports one finding of a severity in each file; none for "".
func finds(s finding.Severity) reviewer {
	return func(_ context.Context, f diff.File) (finding.FileReview, error) {
		r := finding.FileReview{Path: f.Path, State: finding.Reviewed, Usage: cost.Usage{Calls: 1, Cost: 100}}
		if s != "" {
			r.Findings = []finding.Finding{{Path: f.Path, Side: finding.Right, Line: 2, Severity: s, Category: "bug",
				Confidence: 0.9,
				Title:      "Claim about " + f.Path, Body: "Because.", Source: finding.Model}}
		}
		return r, nil
	}
}

// world is a run's outside.
type world struct {
	change   ingest.Change
	reason   string
	reviewer reviewer
	store    graph.Store
	paid     reviewpr.Paid
	deadline time.Time
	posted   []reviewpr.State
	redraft  reviewpr.Redraft
	recall   func(context.Context, ingest.Change) ([]finding.Earlier, error)

	concurrency int
	causes      map[string]error // why the reviewer failed, by path
}

func newWorld(r reviewer, paths ...string) *world {
	return &world{change: changed(paths...), reviewer: r, store: graph.NewMemory()}
}

func (w *world) flow(t *testing.T, o ...graph.RunOption) *graph.Flow[reviewpr.State] {
	t.Helper()
	steps := reviewpr.Steps{
		Ingest: func(context.Context) (ingest.Change, error) { return w.change, nil },
		Admit:  func(context.Context, ingest.Change) (string, error) { return w.reason, nil },
		Post: func(_ context.Context, s reviewpr.State) (post.Posted, error) {
			w.posted = append(w.posted, s)
			return post.Posted{URL: "https://x/1"}, nil
		},
		Paid: w.paid, Deadline: w.deadline, Redraft: w.redraft, Recall: w.recall, Concurrency: w.concurrency,
	}
	if w.causes != nil {
		steps.Failed = func(path string, cause error) { w.causes[path] = cause }
	}
	if w.reviewer != nil {
		steps.Reviewer = w.reviewer
	}
	flow, err := reviewpr.New(steps, w.store, o...)
	require.NoError(t, err)
	return flow
}

func (w *world) draft() reviewpr.State {
	return reviewpr.State{Draft: reviewpr.Draft{GateFrom: finding.Minor, Model: "m",
		Manifest: checkpoint.Manifest{CreatedAt: made, ExpiresAt: made.Add(time.Hour), ToolVersion: "1",
			Thread: w.change.Thread, RunID: 5, RunAttempt: 1, Environment: "approvals"}}}
}

func (w *world) run(t *testing.T) graph.Result[reviewpr.State] {
	t.Helper()
	r, err := w.flow(t).Run(t.Context(), w.change.Thread, w.draft())
	require.NoError(t, err)
	return r
}

func (w *world) decide(t *testing.T, gateID, text string) (graph.Result[reviewpr.State], error) {
	t.Helper()
	return w.flow(t).Resume(t.Context(), w.change.Thread, answer(t, w, gateID, text))
}

func answer(t *testing.T, w *world, gateID, text string) graph.Answer {
	t.Helper()
	d, err := decision.Parse(text)
	require.NoError(t, err)
	record := decision.Record{Thread: w.change.Thread, By: "rita", At: made}
	return graph.Answer{Gate: gateID, Value: decision.Answer{Decision: d, Record: record.With(d)}}
}

func TestP6_GreenAndEmptyNeedsFullCoverage(t *testing.T) {
	t.Parallel()
	tooLarge := newWorld(finds(""), "a.go", "big.go")
	tooLarge.change.Files[1].Additions = 6000
	only := newWorld(finds(""), "big.go")
	only.change.Files[0].Additions = 6000
	problem := newWorld(finds(""), "a.go", "b.go")
	problem.change.Files[1].Patch, problem.change.Files[1].Problem = "", "GitHub gives no diff for it"
	unlisted := newWorld(finds(""), "a.go")
	unlisted.change.Unlisted = 3
	none := newWorld(finds(""))
	none.change.Unlisted = 3
	for name, w := range map[string]*world{"too large": tooLarge, "too large alone": only, "unreadable": problem,
		"unlisted": unlisted, "unlisted alone": none} {
		r := w.run(t)
		require.Equal(t, graph.Paused, r.Status, name)
		require.True(t, r.State.NeedsDecision(), name)
		require.False(t, r.State.Covered(), name)
	}
	require.True(t, unlisted.run(t).State.Partial())
	require.Equal(t, []string{"GitHub lists 1 of 4 changed files; the others were not reached."},
		unlisted.run(t).State.Review().Notices)
	require.Contains(t, unlisted.run(t).State.SummaryBody, "1 of 4 files reviewed at `abababa`, **3 not reached**",
		"what is posted says so too")
	require.False(t, tooLarge.run(t).State.Partial(), "it was reached, and is too large")
}

func TestP6_OneFilesFailureCostsThatFileAlone(t *testing.T) {
	t.Parallel()
	good := finds(finding.Major)
	w := newWorld(func(ctx context.Context, f diff.File) (finding.FileReview, error) {
		switch f.Path {
		case "error.go":
			return finding.FileReview{}, errors.New("token ghp_x is bad")
		case "panic.go":
			panic("defect")
		}
		return good(ctx, f)
	}, "a.go", "error.go", "panic.go", "z.go")
	r := w.run(t)
	require.Equal(t, graph.Paused, r.Status)
	states := map[string]finding.State{}
	for _, f := range r.State.Coverage() {
		states[f.Path] = f.State
	}
	require.Equal(t, map[string]finding.State{"a.go": finding.Reviewed, "z.go": finding.Reviewed,
		"error.go": finding.Failed, "panic.go": finding.Failed}, states)
	require.Len(t, finding.Kept(r.State.Comments), 2)
	for _, said := range []string{"error.go", "panic.go", "failed"} {
		require.Contains(t, r.State.SummaryBody, said, "the posted review says so")
	}
	require.NotContains(t, r.State.Shown(), "ghp_x", "the cause is not the reader's")
	require.EqualValues(t, 2, r.State.Usage.Calls)
}

func TestP1_NothingIsPostedBeforeAnApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(finds(finding.Major), "a.go", "b.go")
	paused := w.run(t)
	id := paused.Pending[0].ID
	require.Nil(t, paused.State.Approved)
	_, err := w.flow(t).Continue(t.Context(), w.change.Thread)
	require.NoError(t, err)
	for _, refused := range []string{"/drop F9\n/approve", "/drop F1\n/abort", "/drop F1\n/edit F1: x\n/approve"} {
		_, err := w.decide(t, id, refused)
		require.ErrorAs(t, err, new(*decision.Error), refused)
	}
	_, err = w.decide(t, strings.Repeat("0", 32), "/approve")
	require.ErrorIs(t, err, graph.ErrWrongGate)
	require.Empty(t, w.posted)

	r, err := w.decide(t, id, "/approve")
	require.NoError(t, err)
	require.Equal(t, reviewpr.Posted, r.End)
	require.Equal(t, "https://x/1", r.State.ReviewURL)
	require.Len(t, w.posted, 1)
	_, err = w.decide(t, id, "/approve")
	require.ErrorIs(t, err, graph.ErrAnswered, "P5")
	require.Len(t, w.posted, 1)
}

func TestP1_AnythingButAnApprovalAborts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"/abort", ""} {
		w := newWorld(finds(finding.Major), "a.go")
		r, err := w.decide(t, w.run(t).Pending[0].ID, text)
		require.NoError(t, err)
		require.Equal(t, reviewpr.Aborted, r.End, text)
		require.False(t, *r.State.Approved)
		require.Empty(t, w.posted)
	}
}

func TestP2_TheApproversChangesAndNothingElseChangeWhatIsPosted(t *testing.T) {
	t.Parallel()
	w := newWorld(finds(finding.Major), "a.go", "b.go", "c.go")
	before := w.run(t)
	_, err := w.decide(t, before.Pending[0].ID, "/drop F1: known\n/edit F2: In other words.\n/summary F3\n/approve")
	require.NoError(t, err)
	s := w.posted[0]
	body, comments := post.Rendered(s.Review())
	require.Equal(t, body, s.SummaryBody)
	require.Len(t, comments, 1)
	require.Contains(t, comments[0].Body, "In other words.")
	require.NotContains(t, comments[0].Body, "Because.")
	require.NotContains(t, body, "Claim about a.go")
	require.Contains(t, body, "Claim about c.go")
	require.Len(t, s.Comments, 3, "a dropped finding is marked, not lost")
	require.Equal(t, "rita", s.Decision.By)
	require.Equal(t, []decision.Drop{{ID: "F1", Reason: "known", How: decision.ByID}}, s.Decision.Dropped)
}

func TestP2_AnotherMachinePostsTheSameBytes(t *testing.T) {
	t.Parallel()
	here := newWorld(finds(finding.Major), "a.go", "b.go")
	paused := here.run(t)
	packed, err := reviewpr.Subject().Pack(t.Context(), here.flow(t), here.store, here.change.Thread,
		checkpoint.Protection{})
	require.NoError(t, err)
	again, err := reviewpr.Subject().Pack(t.Context(), here.flow(t), here.store, here.change.Thread,
		checkpoint.Protection{})
	require.NoError(t, err)
	require.Equal(t, packed, again)

	opened, err := handofftest.Open(packed.Zip)
	require.NoError(t, err)
	require.Equal(t, paused.State.Shown(), opened.Review)
	there := &world{change: here.change, store: graph.NewMemory()}
	require.NoError(t, there.store.Save(t.Context(), opened.Manifest.Thread, opened.Snapshot))
	moved, err := reviewpr.Subject().Pack(t.Context(), there.flow(t), there.store, here.change.Thread,
		checkpoint.Protection{})
	require.NoError(t, err)
	require.Equal(t, packed.Digest, moved.Digest, "the draft has one digest everywhere")

	const text = "/drop F2: known\n/approve"
	for _, w := range []*world{here, there} {
		_, err := w.decide(t, opened.Manifest.GateID, text)
		require.NoError(t, err)
	}
	hereBody, hereComments := post.Rendered(here.posted[0].Review())
	thereBody, thereComments := post.Rendered(there.posted[0].Review())
	require.Equal(t, hereBody, thereBody)
	require.Equal(t, hereComments, thereComments)
	for _, c := range thereComments {
		require.Contains(t, opened.Review, c.Body, "D9: it stood in what the approver saw")
	}
}

func TestP11_TheDraftDoesNotDependOnWhichFileIsDoneFirst(t *testing.T) {
	t.Parallel()
	paths := []string{"a.go", "b.go", "c.go", "d.go", "e.go"}
	digest := func(delays ...int) (packed checkpoint.Draft) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var order []string
			w := newWorld(func(ctx context.Context, f diff.File) (finding.FileReview, error) {
				// The synctest bubble's clock: the order is set, and nothing waits.
				time.Sleep(time.Duration(delays[slices.Index(paths, f.Path)]) * time.Second)
				mu.Lock()
				order = append(order, f.Path)
				mu.Unlock()
				return finds(finding.Major)(ctx, f)
			}, paths...)
			w.run(t)
			require.Equal(t, delays[0] > delays[4], order[0] == "e.go")
			var err error
			packed, err = reviewpr.Subject().Pack(t.Context(), w.flow(t), w.store, w.change.Thread,
				checkpoint.Protection{})
			require.NoError(t, err)
		})
		return packed
	}
	require.Equal(t, digest(1, 2, 3, 4, 5).Zip, digest(5, 4, 3, 2, 1).Zip)
}

func TestP4_ACancelledRunGoesOnWithoutAskingAgain(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	asked := map[string]int{}
	w := newWorld(nil, "a.go", "b.go", "c.go")
	w.reviewer = func(ctx context.Context, f diff.File) (finding.FileReview, error) {
		asked[f.Path]++
		if f.Path == "b.go" && asked[f.Path] == 1 {
			cancel()
			return finding.FileReview{}, ctx.Err()
		}
		return finds(finding.Major)(ctx, f)
	}
	steps := reviewpr.Steps{Concurrency: 1, Reviewer: w.reviewer, Ingest: func(context.Context) (ingest.Change, error) {
		return w.change, nil
	}}
	flow, err := reviewpr.New(steps, w.store)
	require.NoError(t, err)
	_, err = flow.Run(ctx, w.change.Thread, w.draft())
	require.ErrorIs(t, err, context.Canceled)
	r, err := flow.Continue(t.Context(), w.change.Thread)
	require.NoError(t, err)
	require.Len(t, finding.Kept(r.State.Comments), 3)
	require.Equal(t, map[string]int{"a.go": 1, "b.go": 2, "c.go": 1}, asked)
}
