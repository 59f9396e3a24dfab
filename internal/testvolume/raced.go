//go:build race

package testvolume

// Raced reports whether the test was built with the race detector.
const Raced = true
