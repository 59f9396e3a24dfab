package tool

import (
	"bytes"
	"errors"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/pr-review-action/internal/claim"
)

const maxGlob = 500 // bytes

// place is a path or glob to search; empty means everywhere.
type place string

func (w place) check() error {
	switch {
	case len(w) > maxGlob || strings.Count(string(w), "{") > 1:
		// matching several takes unbounded time
		return errors.New("path is too long, or has more than one pair of braces")
	case !doublestar.ValidatePattern(string(w)):
		return errors.New("path is not a glob; * matches part of a name, ** matches folders, {a,b} for one of both")
	}
	return nil
}

func (w place) has(file string) bool {
	glob := string(w)
	switch {
	case glob == "" || glob == "." || file == glob || strings.HasPrefix(file, glob+"/"):
		return true
	case !strings.Contains(glob, "/"):
		file = path.Base(file)
	}
	ok, err := doublestar.Match(glob, file)
	return ok && err == nil
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
