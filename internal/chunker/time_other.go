//go:build !linux

package chunker

import "time"

// clock is the time, where that of a thread's processor cannot be told.
func clock() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}
