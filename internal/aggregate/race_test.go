//go:build race

package aggregate_test

// share is the part of random cases that the race detector, ten times slower, has
// time for.
const share = 10
