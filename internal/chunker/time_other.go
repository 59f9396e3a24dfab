//go:build !linux

package chunker

import "time"

var begin = time.Now()

// threadTime is the time, where that of a thread's processor cannot be told.
func threadTime() time.Duration { return time.Since(begin) }
