package volume

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Took is how long f kept a processor busy. Other work on the machine does not count, nor do goroutines that f starts.
func Took(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := busy()
	f()
	return busy() - before
}

// busy is how long this thread has been on a processor.
func busy() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		panic(err)
	}
	return time.Duration(at.Nano())
}
