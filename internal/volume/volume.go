// Package volume says how many cases a random or exhaustive test runs: all of
// them where PR_REVIEW_VOLUME is full, as in .ci/volume, else a sample.
package volume

import "os"

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
