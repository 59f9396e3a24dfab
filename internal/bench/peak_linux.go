package main

import (
	"os"
	"syscall"
)

// peakOf returns the largest resident set of an ended process in KiB, from getrusage(2).
func peakOf(ended *os.ProcessState) int {
	if usage, ok := ended.SysUsage().(*syscall.Rusage); ok {
		return int(usage.Maxrss)
	}
	return 0
}
