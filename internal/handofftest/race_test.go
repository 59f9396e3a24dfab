package handofftest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
)

// packed is a waiting draft, made without a GitHub.
func (f Flow[S]) packed(t *testing.T) checkpoint.Draft {
	t.Helper()
	packed, err := f.draft(t.Context(), World{Store: graph.NewMemory(), Paid: func(string) {}}, f.local(),
		checkpoint.Protection{})
	require.NoError(t, err)
	draft, err := Open(packed.Zip)
	require.NoError(t, err)
	return draft
}

// local is what a draft says of itself that no job made.
func (f Flow[S]) local() checkpoint.Manifest {
	m := checkpoint.Manifest{Subject: f.About}
	m.Subject.Repository, m.Subject.RepositoryID, m.Subject.Head = "o/r", 7, strings.Repeat("ab", 20)
	return m
}

// settled is the outcome of some jobs that decided one draft.
type settled struct {
	errs  []error
	files []string
}

// deciders lets jobs decide a draft, each from a random instant on.
func (f Flow[S]) deciders(t *testing.T, draft checkpoint.Draft, seed uint64, verdicts ...decision.Verdict) (s settled) {
	dir, kept, random := t.TempDir(), t.TempDir(), rand.New(rand.NewPCG(seed, 0))
	s.errs = make([]error, len(verdicts))
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		over := map[int64]error{}
		ended := func(run int64) (bool, bool) {
			mu.Lock()
			defer mu.Unlock()
			err, ended := over[run]
			return ended, ended && err == nil
		}
		lag := func() {
			mu.Lock()
			slow := time.Duration(random.Int64N(int64(3 * time.Second)))
			mu.Unlock()
			time.Sleep(slow) // of the synctest bubble's clock
		}
		var all sync.WaitGroup
		for i, verdict := range verdicts {
			all.Go(func() {
				lag()
				lag()
				run := int64(i + 1)
				err := f.decide(t.Context(), draft, dir, folder{kept, run, ended, lag}, run, verdict, plain)
				mu.Lock()
				defer mu.Unlock()
				s.errs[i], over[run] = err, err
			})
		}
		all.Wait()
	})
	var err error
	s.files, err = filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	return s
}

// decide opens a draft and carries a decision out, as a run whose records are kept.
func (f Flow[S]) decide(ctx context.Context, draft checkpoint.Draft, dir string, records handoff.Records, run int64,
	verdict decision.Verdict, over func(graph.Store) graph.Store) error {
	out := Out{Dir: dir}
	decisions := &handoff.Decisions{Records: records, Run: run, Listed: true, Standing: out.Standing,
		Warn: func(string, error) {}}
	out.Race = decisions.Race
	opened, err := f.open(ctx, draft, out, over)
	if err != nil {
		return err
	}
	d := decision.Decision{Verdict: verdict}
	record := decision.Record{Thread: draft.Manifest.Thread, Digest: draft.Digest, Code: draft.Code,
		By: fmt.Sprint("run ", run), At: made, Via: decision.ByDispatch}
	return opened.CarryOut(ctx, decisions, decision.Answer{Decision: d, Record: record.With(d)})
}

// Races has jobs decide one draft at the same time, alike and otherwise: one decision
// holds, and who is told that theirs was carried out decided so (P5, T25).
func Races[S any](t *testing.T, f Flow[S]) {
	t.Parallel()
	approve, abort := decision.Approve, decision.Abort
	for name, verdicts := range map[string][]decision.Verdict{
		"two approve":            {approve, approve},
		"three approve":          {approve, approve, approve},
		"one rejects":            {approve, abort},
		"two reject, two do not": {abort, approve, approve, abort},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			draft, outcomes := f.packed(t), map[decision.Verdict]int{}
			for seed := range uint64(50) {
				s := f.deciders(t, draft, seed, verdicts...)
				carried := map[decision.Verdict]bool{}
				for i, err := range s.errs {
					if err == nil {
						carried[verdicts[i]] = true
						continue
					}
					require.Equal(t, 13, problem.Check(err), "seed %d: %v", seed, err)
				}
				require.Len(t, carried, 1, "seed %d: %v", seed, s.errs)
				require.Equal(t, carried[approve], len(s.files) == 1, "seed %d: %v", seed, s.files)
				for verdict := range carried {
					outcomes[verdict]++
				}
			}
			t.Log(outcomes)
		})
	}
}
