package testvolume

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Took returns the CPU time that f takes in its own goroutine, so that other work on the machine does not count.
func Took(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := busy()
	f()
	return busy() - before
}

// busy returns the CPU time of the current thread.
func busy() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		panic(err)
	}
	return time.Duration(at.Nano())
}
