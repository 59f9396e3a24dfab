// Package testvolume decides how many cases a random or exhaustive test runs: all of them if
// PR_REVIEW_VOLUME=full is set, as in .ci/volume, otherwise a sample.
package testvolume

import (
	"os"
	"testing"
)

// Full reports whether all cases are to be run, not a sample.
func Full() bool { return os.Getenv("PR_REVIEW_VOLUME") == "full" }

// Of returns the number of cases to run: all of them in full, otherwise the sample, or a quarter
// of it under the race detector, which is about ten times slower.
func Of(all, sample int) int {
	switch {
	case Full():
		return all
	case Raced:
		return max(sample/4, 1)
	}
	return sample
}

// Some returns all cases, or under the race detector n of them, evenly spread and in order.
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

// NoRaces skips a test under the race detector: it starts no goroutine, or only processes that are not built with
// -race.
func NoRaces(t testing.TB) {
	t.Helper()
	if Sampled() {
		t.Skip(Unwatched)
	}
}

// Unwatched is the reason that NoRaces gives for skipping a test.
const Unwatched = "the race detector learns nothing new here; go test without -race runs it"

// Sampled reports whether the test runs a sample under the race detector.
func Sampled() bool { return Raced && !Full() }
