package chunker

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock tells, to any thread, the processor time that the calling one uses from here on.
func clock() func() time.Duration {
	id := int32(^unix.Gettid()<<3 | 6) // as clock_getcpuclockid(3) names a thread's clock
	now := func() time.Duration {
		var t unix.Timespec
		_ = unix.ClockGettime(id, &t) // where there is none, time by the clock alone bounds a parse
		return time.Duration(t.Nano())
	}
	began := now()
	return func() time.Duration { return now() - began }
}
