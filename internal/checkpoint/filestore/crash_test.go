package filestore

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/testvolume"
)

// point is one place in the matrix: what befalls the first process, in which of
// its operations, and what the second.
type point struct {
	concurrency int
	n           int
	outcome     outcome
	err         error // the disk fails instead
	stay        bool
	seed        uint64
	then        int // the second process loses power in this operation, 0 for none
}

func (p point) String() string {
	what := p.outcome.String()
	if p.err != nil {
		what = fmt.Sprintf("%v, stay %t", p.err, p.stay)
	}
	return fmt.Sprintf("%s in operation %d, seed %d, then in %d, %d at one time", what, p.n, p.seed, p.then,
		p.concurrency)
}

func (p point) expected() error {
	if p.err == nil {
		return errDown
	}
	return p.err
}

// mendable reports a disk that fails once: a record is then written again, and the
// run may continue.
func (p point) mendable() bool { return p.err != nil && !p.stay }

// run holds one point to the bytes of the undisturbed run. It reports whether
// the run had as many operations.
func (p point) run(t *testing.T, want string) (reached bool) {
	w := newWorld(t)
	w.what = p.String()
	if p.err != nil {
		w.disk.Fail(p.n, p.err, p.stay)
	} else {
		w.disk.Crash(p.n, p.outcome, p.seed)
	}
	err := w.live(p.concurrency)
	reached = w.disk.Ops() >= p.n
	if reached && (err != nil || !p.mendable()) {
		require.ErrorIs(t, err, p.expected(), p.String())
	}
	if p.then > 0 {
		w.disk.Restart()
		w.disk.Crash(p.then, allOutcomes()[1+p.seed%3], p.seed)
		_ = w.live(p.concurrency) // to its end, where it has fewer operations
	}
	require.Equal(t, want, w.finish(p.concurrency), p.String())
	return reached
}

// matrix has every point of a run of so many operations.
func matrix(operations, concurrency int) (all []point) {
	seeds := map[outcome]int{killed: 1, lost: 1, ordered: 4, holes: 6}
	for n := 1; n <= operations; n++ {
		for _, o := range allOutcomes() {
			for seed := range seeds[o] {
				all = append(all, point{concurrency: concurrency, n: n, outcome: o, seed: uint64(seed)})
			}
		}
		for _, stay := range []bool{false, true} {
			all = append(all,
				point{concurrency: concurrency, n: n, err: diskBroken, stay: stay},
				point{concurrency: concurrency, n: n, err: diskFull, stay: stay, then: 1})
		}
		for then := 1; then <= operations; then += 7 {
			seed := uint64(n * then)
			all = append(all, point{concurrency: concurrency, n: n, outcome: killed, seed: seed,
				then: then + n%7})
		}
	}
	return all
}

// Every operation of a run on the disk: kill there or let the disk fail, continue
// in another process, and compare. PR_REVIEW_VOLUME=full walks all of it.
func TestP4_ARunSurvivesACrashInEveryOperationOnTheDisk(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d at one time", concurrency), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			want := w.finish(concurrency)
			all := matrix(w.disk.Ops(), concurrency)
			stride := 1
			if !testvolume.Full() {
				stride = len(all)/25 + 1
			}
			points := 0
			for i := 0; i < len(all); i += stride {
				if all[i].run(t, want) {
					points++
				}
			}
			t.Logf("%d points of %d, in a run of %d operations on the disk", points, len(all), w.disk.Ops())
			require.NotZero(t, points)
		})
	}
}
