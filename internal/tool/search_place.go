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

// place is where to look; everywhere when empty.
type place string

func (w place) check() error {
	switch {
	case len(w) > maxGlob || strings.Count(string(w), "{") > 1:
		// matching several takes time without bound
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

// passes reports whether a file is passed over that is others' code or what tools
// write, since the path does not ask for it.
func (w place) passes(file string) bool {
	asked := claim.Unread(string(w)) || claim.Unread(string(w)+"/file")
	return claim.Unread(file) && !asked
}

// packed reports whether lines are on average too long to be read.
func packed(content []byte) bool {
	const mean = 400
	return len(content) > 10*mean && len(content)/(bytes.Count(content, []byte("\n"))+1) >= mean
}
