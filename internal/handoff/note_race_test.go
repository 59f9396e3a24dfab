package handoff_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
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

// packedNote is a draft that waits, made without a GitHub.
func packedNote(t *testing.T) checkpoint.Draft {
	t.Helper()
	store := graph.NewMemory()
	flow, err := notes{draft: func(context.Context) (string, error) { return "an answer", nil }}.flow(store)
	require.NoError(t, err)
	facts := noteFacts()
	_, err = flow.Run(t.Context(), facts.Thread, note{Facts: facts})
	require.NoError(t, err)
	packed, err := noteSubject().Pack(t.Context(), flow, store, facts.Thread, checkpoint.Protection{})
	require.NoError(t, err)
	draft, err := open(packed.Zip)
	require.NoError(t, err)
	return draft
}

func noteFacts() checkpoint.Manifest {
	return checkpoint.Manifest{
		Thread: "local/note", Subject: checkpoint.Subject{Kind: "note", Digest: digest}, Outcome: "PAUSED",
		CreatedAt: made, ExpiresAt: made.Add(time.Hour),
	}
}

// deskOf is the desk of a job whose decisions are kept in a folder.
func deskOf(records folder, out notes) *handoff.Desk {
	return &handoff.Desk{Records: records, Run: records.run, Listed: true, Standing: out.standing,
		Warn: func(string, error) {}}
}

// settled is the outcome of some jobs that decided one draft.
type settled struct {
	errs  []error
	files []string
}

// deciders lets jobs decide one draft, each from a random instant on.
func deciders(t *testing.T, seed uint64, verdicts ...decision.Verdict) (s settled) {
	draft, dir := packedNote(t), t.TempDir()
	kept, random := t.TempDir(), rand.New(rand.NewPCG(seed, 0))
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
				err := decideNote(t, draft, dir, folder{kept, int64(i + 1), ended, lag}, verdict)
				mu.Lock()
				defer mu.Unlock()
				s.errs[i], over[int64(i+1)] = err, err
			})
		}
		all.Wait()
	})
	var err error
	s.files, err = filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	return s
}

// decideNote opens a draft and carries a decision out.
func decideNote(t *testing.T, draft checkpoint.Draft, dir string, records folder, verdict decision.Verdict) error {
	out := notes{dir: dir}
	desk := deskOf(records, out)
	out.race = desk.Race
	opened, err := noteSubject().Open(t.Context(), draft, out.flow)
	if err != nil {
		return err
	}
	d := decision.Decision{Verdict: verdict}
	record := decision.Record{Thread: draft.Manifest.Thread, Digest: draft.Digest, Code: draft.Code,
		By: fmt.Sprint("run ", records.run), At: made, Via: decision.ByDispatch}
	return opened.CarryOut(t.Context(), desk, decision.Answer{Decision: d, Record: record.With(d)})
}

// TestP5_T25_RacingDecidersWriteOneNote races jobs that decide alike and otherwise: one
// decision holds, and who is told that theirs was carried out decided so.
func TestP5_T25_RacingDecidersWriteOneNote(t *testing.T) {
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
			outcomes := map[decision.Verdict]int{}
			for seed := range uint64(50) {
				s := deciders(t, seed, verdicts...)
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
