//go:build !race

package aggregate_test

const share = 1
