package main

import (
	"os"
	"syscall"
)

// peakOf is an ended process's largest resident set in KiB, from getrusage(2).
func peakOf(ended *os.ProcessState) int {
	if usage, ok := ended.SysUsage().(*syscall.Rusage); ok {
		return int(usage.Maxrss)
	}
	return 0
}
