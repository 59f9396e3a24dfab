//go:build !linux

package volume

import "time"

// Took is how long f took.
func Took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
