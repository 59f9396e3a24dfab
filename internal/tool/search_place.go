package tool

import (
	"bytes"
	"errors"
	"strings"

	"github.com/org/pr-review-action/internal/claim"
	"github.com/org/pr-review-action/internal/pattern"
)

// place is a path or glob to search; empty means everywhere.
type place string

func (w place) check() error {
	switch flaw := pattern.Flaw(string(w)); {
	case w.globs() == nil:
		return nil
	case strings.Count(string(w), "{") > 1: // matching several takes unbounded time
		return errors.New("path has more than one pair of braces")
	case flaw != "":
		return errors.New("path is not a glob: " + flaw)
	}
	return nil
}

// globs returns the place as pattern.Matches and an index take it; none for everywhere.
func (w place) globs() []string {
	if w == "" || w == "." {
		return nil
	}
	return []string{string(w), string(w) + "/**"}
}

func (w place) has(file string) bool {
	globs, at := w.globs(), string(w) // a file's own name may have brackets
	return globs == nil || file == at || strings.HasPrefix(file, at+"/") || pattern.Matches(globs, file)
}

// skips reports whether a file is skipped because it is third-party or generated and the path
// does not ask for such files.
func (w place) skips(file string) bool {
	asked := claim.Unread(string(w)) || claim.Unread(string(w)+"/file")
	return claim.Unread(file) && !asked
}

// isMinified reports whether lines are too long on average to be read.
func isMinified(content []byte) bool {
	const mean = 400
	return len(content) > 10*mean && len(content)/(bytes.Count(content, []byte("\n"))+1) >= mean
}
