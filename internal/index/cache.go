package index

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Cache is a folder of stored indexes of one repository, one for each of the last few
// commits. Several processes may use it at once.
type Cache struct{ Folder string }

const (
	kept      = 3 // indexes of a repository
	extension = ".index"
	abandoned = time.Hour // after which a half-written file is somebody's who was killed
)

// Load is the index of a commit, or else the newest one that is whole, to build on; nil
// where there is none. exact tells that it is the commit's own. A damaged one is removed.
func (c Cache) Load(commit string) (x *Index, exact bool) {
	paths := c.stored()
	slices.SortStableFunc(paths, func(a, b string) int {
		return cmp.Compare(rank(a != c.path(commit)), rank(b != c.path(commit)))
	})
	for _, path := range paths {
		x, err := Open(path)
		if err == nil {
			return x, path == c.path(commit)
		}
		_ = os.Remove(path) // it would be tried and found damaged again
	}
	return nil, false
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// Keep stores the index of a commit, and removes the oldest of others.
func (c Cache) Keep(commit string, x *Index) error {
	if err := x.Save(c.path(commit)); err != nil {
		return err
	}
	for i, path := range c.stored() {
		if i >= kept && path != c.path(commit) {
			_ = os.Remove(path) // another process may have been faster
		}
	}
	return nil
}

func (c Cache) path(commit string) string {
	return filepath.Join(c.Folder, cmp.Or(commit, "folder")+extension)
}

// stored lists what is there, the newest first, and clears away what was never finished.
func (c Cache) stored() []string {
	entries, err := os.ReadDir(c.Folder)
	if err != nil {
		return nil
	}
	written := map[string]time.Time{}
	var paths []string
	for _, e := range entries {
		info, err := e.Info()
		path := filepath.Join(c.Folder, e.Name())
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasPrefix(e.Name(), unfinished) && time.Since(info.ModTime()) > abandoned:
			_ = os.Remove(path)
		case filepath.Ext(e.Name()) == extension:
			written[path] = info.ModTime()
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(written[b].Compare(written[a]), cmp.Compare(a, b))
	})
	return paths
}
