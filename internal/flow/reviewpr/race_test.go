//go:build race

package reviewpr_test

// raced reports whether the race detector watches, which takes some twenty times as long.
const raced = true
