//go:build race

package chunker

import "sync"

var parsing sync.Mutex

// alone holds back other parses until the function that it gives is called. The library
// notes in a variable of its package, without a lock, why it left a fast path; only its
// telemetry, which is off, reads that. The race detector cannot know.
func alone() func() {
	parsing.Lock()
	return parsing.Unlock
}
