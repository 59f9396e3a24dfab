package chunker

import (
	"syscall"
	"time"
)

// threadTime is the processor time that this thread has used.
func threadTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_THREAD, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
