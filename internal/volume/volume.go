// Package volume says what a test may cost: how many cases a random or exhaustive one runs, all of
// them where PR_REVIEW_VOLUME is full, as in .ci/volume, else a sample.
package volume

import (
	"os"
	"testing"
)

// Full reports whether all cases are to be run, not a sample.
func Full() bool { return os.Getenv("PR_REVIEW_VOLUME") == "full" }

// Of is how many cases to run: all in full, else the sample, of which the race
// detector, some ten times slower, has time for a quarter.
func Of(all, sample int) int {
	switch {
	case Full():
		return all
	case Raced:
		return max(sample/4, 1)
	}
	return sample
}

// Some are cases in order: all of them, of which the race detector has n, evenly spread from the first on.
func Some[C any](cases []C, n int) []C {
	if !Sampled() || n >= len(cases) {
		return cases
	}
	some := make([]C, n)
	for i := range some {
		some[i] = cases[i*len(cases)/n]
	}
	return some
}

// NoRaces leaves a test out under the race detector: what it starts is not watched, or nothing in it runs side by side.
func NoRaces(t testing.TB) {
	t.Helper()
	if Sampled() {
		t.Skip(Unwatched)
	}
}

// Unwatched is why a test is left out.
const Unwatched = "the race detector learns nothing new here; go test without -race runs it"

// Sampled reports whether the race detector watches a sample.
func Sampled() bool { return Raced && !Full() }
