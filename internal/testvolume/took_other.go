//go:build !linux

package testvolume

import "time"

// Took returns the time that f takes.
func Took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
