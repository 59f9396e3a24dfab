// Package pattern compiles regular expressions on first use, so that a process which only
// prints its version pays for none of them, and matches paths against globs.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that returns the compiled expression. It compiles on the first
// call, which panics if the expression is invalid.
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
