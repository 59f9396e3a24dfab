package chunker

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock returns a function that reports, on any thread, the CPU time that the current thread uses from now on.
func clock() func() time.Duration {
	id := int32(^unix.Gettid()<<3 | 6) // the thread's clock, as in clock_getcpuclockid(3)
	now := func() time.Duration {
		var t unix.Timespec
		_ = unix.ClockGettime(id, &t) // without this clock, only wall-clock time bounds a parse
		return time.Duration(t.Nano())
	}
	began := now()
	return func() time.Duration { return now() - began }
}
