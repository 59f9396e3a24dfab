package app

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestP11_TheWorstDraftComesFirstInWhateverOrderTheyAreFound(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	want := []waitingDraft{
		{thread: "c", blockers: 2, created: day(9)},
		{thread: "b", blockers: 1, majors: 3, created: day(8)},
		{thread: "a", blockers: 1, majors: 1, created: day(1)},
		{thread: "d", majors: 9, created: day(1)},
		{thread: "e", created: day(2)},
		{thread: "f", code: "1", created: day(3)},
		{thread: "f", code: "2", created: day(3)},
	}
	for seed := range uint64(50) {
		got := slices.Clone(want)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, worstFirst)
		require.Equal(t, want, got)
	}
}
