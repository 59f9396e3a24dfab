package triage

import (
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/diff"
)

// each looks at all files, as many at one time as there are processors, and gives
// what came of them in their order.
func each[T any](files []diff.File, look func(diff.File) T) []T {
	out := make([]T, len(files))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		group.Go(func() error {
			out[i] = look(f)
			return nil
		})
	}
	_ = group.Wait() // no look gives an error
	return out
}
