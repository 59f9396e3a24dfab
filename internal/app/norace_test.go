//go:build !race

package app_test

const share = 1
