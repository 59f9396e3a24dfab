package pattern

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
)

const maxSeen = 100_000 // files and folders that are visited for a glob

var errEnough = errors.New("enough was seen")

// Files returns the regular files of a folder that match a valid glob, in the order of their paths, at most limit. more
// reports that others match. It follows no link, and skips node_modules and Git's own folder, which may contain a job's
// token: the folder may be the pull request's.
func Files(dir fs.FS, glob string, limit int) (names []string, more bool) {
	seen := 0
	_ = fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error { // what cannot be listed does not exist
		seen++
		switch {
		case seen > maxSeen || len(names) > limit:
			return errEnough
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
