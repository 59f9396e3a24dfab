//go:build !race

package chunker

// alone does nothing, so that parses run in parallel; see alone_race.go.
func alone() func() { return func() {} }
