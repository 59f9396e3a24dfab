//go:build !linux

package chunker

import "time"

// clock returns a function that reports the wall-clock time from now on: a thread's CPU time is not available.
func clock() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}
