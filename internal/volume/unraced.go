//go:build !race

package volume

// Raced reports whether the race detector watches.
const Raced = false
