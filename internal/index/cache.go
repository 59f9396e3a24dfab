package index

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Cache is a folder of stored indexes of one repository, one for each of the last few
// commits: a file that names layers, and the layers by their sums, which several commits
// share. Several processes may use it at once.
type Cache struct{ Folder string }

const (
	kept       = 3 // indexes of a repository
	extension  = ".index"
	layered    = ".layer"
	mostLayers = 2
	maxFile    = 1 << 30     // bytes of a layer that is read
	unfinished = ".writing-" // begins the names of files that are being written
	abandoned  = time.Hour   // after which a file that nothing names is somebody's who was killed
)

// Load is the index of a commit, or else the newest one that is whole, to build on; nil
// where there is none. exact tells that it is the commit's own. A damaged one is removed.
func (c Cache) Load(commit string) (x *Index, exact bool) {
	own := c.path(commit)
	others := slices.DeleteFunc(c.stored(), func(path string) bool { return path == own })
	for _, path := range append([]string{own}, others...) {
		x, err := c.open(path)
		if err == nil {
			return x, path == own
		}
		_ = os.Remove(path) // it would be tried and found damaged again
	}
	return nil, false
}

// open reads an index; a damaged layer is removed, so that it is written anew.
func (c Cache) open(path string) (*Index, error) {
	sums, err := c.names(path)
	if err != nil {
		return nil, err
	}
	var layers []*layer
	for _, sum := range sums {
		l, err := open(c.layer(sum))
		if err == nil && l.sum != sum {
			err = ErrDamaged
		}
		if errors.Is(err, ErrDamaged) {
			_ = os.Remove(c.layer(sum))
		}
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return newIndex(layers[0].made, layers...), nil
}

// names are the sums of an index's layers.
func (c Cache) names(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rest, ok := strings.CutPrefix(string(text), magic)
	sums := strings.Fields(rest)
	for _, sum := range sums {
		ok = ok && len(sum) == 64 && filepath.IsLocal(sum) && filepath.Base(sum) == sum
	}
	if !ok || len(sums) == 0 || len(sums) > mostLayers {
		return nil, ErrDamaged
	}
	return sums, nil
}

func open(path string) (*layer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, cmp.Or(err, ErrDamaged)
	}
	return readLayer(f, int(info.Size()))
}

// Keep stores the index of a commit, and removes the oldest of others. What is there is
// replaced at once, or stays as it was.
func (c Cache) Keep(commit string, x *Index) error {
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return err
	}
	text := magic
	for _, l := range x.layers {
		sum, err := c.keep(l)
		if err != nil {
			return err
		}
		text += sum + "\n"
	}
	if err := c.write(c.path(commit), text); err != nil {
		return err
	}
	c.clear(commit)
	return nil
}

// keep stores a layer that is not there yet.
func (c Cache) keep(l *layer) (sum string, err error) {
	sum, parts := l.sum, []string(nil)
	if sum == "" {
		sum, parts = l.stored()
	}
	if now := time.Now(); os.Chtimes(c.layer(sum), now, now) == nil {
		return sum, nil
	}
	if parts == nil {
		_, parts = l.stored()
	}
	return sum, c.write(c.layer(sum), parts...)
}

// write makes a file, which has its name when it is whole.
func (c Cache) write(path string, parts ...string) error {
	f, err := os.CreateTemp(c.Folder, unfinished+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // it is gone where all went well
	for _, part := range parts {
		if err == nil {
			_, err = f.WriteString(part)
		}
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing the index: %w", err)
	}
	return os.Rename(f.Name(), path)
}

func (c Cache) path(commit string) string {
	return filepath.Join(c.Folder, cmp.Or(commit, "folder")+extension)
}

func (c Cache) layer(sum string) string { return filepath.Join(c.Folder, sum+layered) }

// clear removes old indexes, and after a while the layers that no index names.
func (c Cache) clear(commit string) {
	named := map[string]bool{}
	for i, path := range c.stored() {
		if i >= kept && path != c.path(commit) {
			_ = os.Remove(path) // another process may have been faster
			continue
		}
		sums, _ := c.names(path)
		for _, sum := range sums {
			named[c.layer(sum)] = true
		}
	}
	c.each(func(path string, written time.Time) {
		if filepath.Ext(path) == layered && !named[path] && time.Since(written) > abandoned {
			_ = os.Remove(path)
		}
	})
}

// stored lists the indexes, the newest first, and clears away what was never finished.
func (c Cache) stored() []string {
	times := map[string]time.Time{}
	var paths []string
	c.each(func(path string, written time.Time) {
		switch {
		case strings.HasPrefix(filepath.Base(path), unfinished) && time.Since(written) > abandoned:
			_ = os.Remove(path)
		case filepath.Ext(path) == extension:
			times[path] = written
			paths = append(paths, path)
		}
	})
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(times[b].Compare(times[a]), cmp.Compare(a, b))
	})
	return paths
}

// each goes through the files of the folder.
func (c Cache) each(do func(path string, written time.Time)) {
	entries, _ := os.ReadDir(c.Folder) // there may be none
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			do(filepath.Join(c.Folder, e.Name()), info.ModTime())
		}
	}
}
