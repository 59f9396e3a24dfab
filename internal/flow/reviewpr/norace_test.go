//go:build !race

package reviewpr_test

const raced = false
