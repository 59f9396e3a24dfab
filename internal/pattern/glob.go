package pattern

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Matches reports whether one of the globs matches a path. A glob without a slash matches
// the last element in any folder, and one with a trailing slash everything below, as in
// .gitignore.
func Matches(globs []string, path string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, _ := doublestar.Match(spelled(glob), path) // a glob with a flaw matches nothing
		return ok
	})
}

// spelled returns a glob as doublestar reads it, relative to the root.
func spelled(glob string) string {
	if slash := strings.IndexByte(glob, '/'); slash < 0 || slash == len(glob)-1 {
		glob = "**/" + glob
	}
	glob = strings.TrimPrefix(glob, "/")
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	return glob
}

// The limits of a glob. Matching tries every choice of its braces in turn.
const (
	maxGlob    = 500  // bytes
	maxChoices = 1000 // of all its braces together
)

// Flaw returns what is wrong with a glob, or "".
func Flaw(glob string) string {
	plain := escaped().ReplaceAllString(glob, "_")
	switch {
	case glob == "":
		return "it is empty"
	case len(glob) > maxGlob:
		return fmt.Sprintf("it is longer than %d bytes", maxGlob)
	case strings.HasPrefix(glob, "!"):
		return `nothing is taken back with !; a name that begins with one is written \!`
	case strings.Contains(plain, "\\"):
		return `folders are parted by /, and \ stands only before one of * ? [ ] { } ! , -`
	case astray().MatchString(glob):
		return `no path has ".", ".." or nothing between two slashes`
	case countChoices(plain) > maxChoices:
		return fmt.Sprintf("its braces have more than %d choices", maxChoices)
	case !doublestar.ValidatePattern(glob):
		return explainBrackets(plain)
	}
	return ""
}

var (
	escaped = Lazy(`\\[*?\[\]{}!,\\-]`)
	astray  = Lazy(`(^|/)\.{1,2}(/|$)|//`)
)

// countChoices returns an upper bound of the number of ways to expand a glob's braces.
func countChoices(glob string) int {
	n := 1
	for _, group := range strings.Split(glob, "{")[1:] {
		n = min(n*(1+strings.Count(group, ",")), maxChoices+1)
	}
	return n
}

// explainBrackets returns which bracket makes a glob invalid.
func explainBrackets(glob string) string {
	if class := strings.LastIndexByte(glob, '['); class >= 0 {
		switch end := strings.IndexByte(glob[class:], ']'); {
		case end < 0:
			return "its [ is not closed"
		case strings.Trim(glob[class+1:class+end], "!^") == "":
			return "its [] names no character"
		}
	}
	switch opened, closed := strings.Count(glob, "{"), strings.Count(glob, "}"); {
	case opened > closed:
		return "its { is not closed"
	case opened < closed:
		return "its } closes nothing"
	}
	return "its brackets do not fit"
}

const maxSeen = 100_000 // files and folders that are visited for a glob

// Files returns the regular files of a folder that match a valid glob, in the order of their paths, at most limit. more
// reports that others match. It follows no link, and skips node_modules and Git's own folder, which may contain a job's
// token: the folder may be the pull request's.
func Files(dir fs.FS, glob string, limit int) (names []string, more bool) {
	seen := 0
	_ = fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error { // what cannot be listed does not exist
		seen++
		switch {
		case seen > maxSeen || len(names) > limit:
			return fs.SkipAll
		case d != nil && d.IsDir() && (err != nil || d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case err == nil && d.Type().IsRegular() && doublestar.MatchUnvalidated(glob, name):
			names = append(names, name)
		}
		return nil
	})
	more = len(names) > limit
	names = names[:min(len(names), limit)]
	slices.Sort(names)
	return names, more
}
