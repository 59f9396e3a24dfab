package index

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/order"
)

// Cache is a folder with the stored indexes of one repository, one for each of the last
// few commits. Several processes may use it at once.
type Cache struct{ Folder string }

const (
	kept       = 3 // indexes of a repository that stay
	extension  = ".index"
	maxFile    = 1 << 30     // bytes; larger indexes are not read
	unfinished = ".writing-" // prefix of the names of files that are being written
	abandoned  = time.Hour   // age at which such a file must be from a process that was killed
)

// Load returns the index of a commit or else, to build on, the newest intact one; nil if
// there is none. exact reports that it is the commit's own. Unreadable ones are removed.
func (c Cache) Load(commit string) (x *Index, exact bool) {
	for _, path := range c.stored(commit) {
		stored, _ := os.ReadFile(path) // what cannot be read cannot be decoded either
		if x, err := Decode(stored); err == nil {
			return x, path == c.path(commit)
		}
		_ = os.Remove(path) // it would be tried and found damaged again
	}
	return nil, false
}

// Keep stores the index of a commit, and removes the oldest indexes of other commits. An
// index that is already there is replaced atomically, or stays as it was.
func (c Cache) Keep(commit string, x *Index) error {
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.Folder, unfinished+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // already renamed if all went well
	_, err = f.Write(x.Encode())
	if err = errors.Join(err, f.Close()); err != nil { // a file cut short by a crash fails its checksum
		return fmt.Errorf("writing the index: %w", err)
	}
	if err := os.Rename(f.Name(), c.path(commit)); err != nil {
		return err
	}
	stored := c.stored(commit)
	for _, path := range stored[min(len(stored), kept):] {
		_ = os.Remove(path) // another process may have been faster
	}
	return nil
}

func (c Cache) path(commit string) string {
	return filepath.Join(c.Folder, cmp.Or(commit, "folder")+extension)
}

// stored lists the paths of the indexes, the commit's own first, then the newest. It removes
// abandoned files and those that are too large to be read.
func (c Cache) stored(commit string) []string {
	times := map[string]time.Time{}
	entries, _ := os.ReadDir(c.Folder) // there may be none
	for _, e := range entries {
		info, err := e.Info()
		path := filepath.Join(c.Folder, e.Name())
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasPrefix(e.Name(), unfinished) && time.Since(info.ModTime()) > abandoned, info.Size() > maxFile:
			_ = os.Remove(path)
		case filepath.Ext(path) == extension:
			times[path] = info.ModTime()
		}
	}
	newest := slices.SortedFunc(maps.Keys(times), func(a, b string) int {
		return cmp.Or(times[b].Compare(times[a]), cmp.Compare(a, b))
	})
	return order.Ahead(newest, func(path string) bool { return path == c.path(commit) })
}
