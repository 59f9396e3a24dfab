//go:build race

package gate_test

// share is the part of random runs that the race detector, ten times slower, has
// time for.
const share = 10
