//go:build !race

package gate_test

const share = 1
