// Package pattern makes regular expressions that are compiled when they are first
// used, so that a process which only prints its version pays for none of them, and
// matches paths by globs.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy gives an expression's compiled form from its first call on; the first call of a
// broken one panics.
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
