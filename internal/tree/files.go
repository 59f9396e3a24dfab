package tree

import (
	"context"
	"crypto/sha1" //nolint:gosec // it names content as git does
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/org/pr-review-action/internal/diff"
)

// files is the one implementation of Tree: what is known of the paths, learned when the
// tree is first asked, and how the texts are read.
type files struct {
	paths *lazy[*table]
	read  reader // nil where the table holds the texts
	whole *lazy[*table]
}

// reader reads listed files, in their order; nil stands for one that is gone meanwhile.
type reader func(ctx context.Context, t *table, paths []string) ([][]byte, error)

func newFiles(list func(context.Context) (*table, error), read reader) *files {
	f := &files{paths: newLazy(list), read: read}
	f.whole = newLazy(f.hold)
	return f
}

// holding is a tree whose texts were read before.
func holding(t *table) *files {
	return newFiles(func(context.Context) (*table, error) { return t, nil }, nil)
}

func (f *files) Read(ctx context.Context, path string) ([]byte, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	t, err := f.paths.get(ctx)
	if err != nil {
		return nil, err
	}
	e, known := t.entries[path]
	link := e.why == ErrLink && e.Blob != "" && e.size >= 0 && e.size <= MaxFile // git has its target
	switch {
	case !known && t.rest != "":
		return nil, fmt.Errorf("%q: %w among those that were read: %s", path, ErrNoFile, t.rest)
	case !known:
		return nil, fmt.Errorf("%q: %w", path, ErrNoFile)
	case e.why != nil && !link:
		return nil, fmt.Errorf("%q: %w", path, e.why)
	}
	contents, err := f.contents(ctx, t, []string{path})
	switch {
	case err != nil:
		return nil, err
	case link:
		return nil, fmt.Errorf("%q: %w", path, notFollowed(string(contents[0])))
	case contents[0] == nil:
		return nil, fmt.Errorf("%q: %w", path, ErrNoFile)
	case !isText(contents[0]):
		return nil, fmt.Errorf("%q: %w", path, ErrNotText)
	}
	return contents[0], nil
}

func (f *files) Paths(ctx context.Context) ([]string, error) {
	t, err := f.paths.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.readable(), nil
}

func (f *files) contents(ctx context.Context, t *table, paths []string) ([][]byte, error) {
	if f.read != nil {
		return f.read(ctx, t, paths)
	}
	all := make([][]byte, len(paths))
	for i, path := range paths {
		all[i] = t.entries[path].content
	}
	return all, nil
}

// hold reads the files into memory, as far as its bounds allow.
func (f *files) hold(ctx context.Context) (*table, error) {
	t, err := f.paths.get(ctx)
	if err != nil || f.read == nil {
		return t, err
	}
	held, size := newTable(), 0
	paths := t.readable()
	for i, path := range paths {
		if size += len(path) + int(t.entries[path].size); size > MaxTree || i >= MaxFiles {
			held.lack(fmt.Sprintf("the commit has more than %d files or %d MiB", MaxFiles, MaxTree>>20))
			paths = paths[:i]
			break
		}
	}
	contents, err := f.read(ctx, t, paths)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		held.put(path, contents[i])
	}
	return held, nil
}

// Whole returns a tree that answers from memory, and why it may lack files, where
// all files of t can be read at once. Another tree, and one that cannot be read
// now, is returned as it is, and says itself what went wrong.
func Whole(ctx context.Context, t Tree) (Tree, string) {
	f, ok := t.(*files)
	if !ok {
		return t, ""
	}
	held, err := f.whole.get(ctx)
	if err != nil {
		return t, ""
	}
	return holding(held), held.rest
}

// File is a file of a commit that may be read.
type File struct {
	Path string
	Blob string // git's hash of its content, in hex
	Size int64  // bytes
}

// Listing is all files of a commit that may be read, and how many others there are.
type Listing struct {
	Files []File         // by path
	Left  map[string]int // why others are not among them → how many: the Left… reasons
}

// Why a file is not listed.
const (
	LeftLink       = "link"
	LeftSubmodule  = "submodule"
	LeftLarge      = "larger than 1 MiB"
	LeftBinary     = "not text"
	LeftCredential = "credentials by its name"
	LeftOther      = "not read"
)

// List lists the files of a tree of this package. In a clone nothing is read for that.
func List(ctx context.Context, t Tree) (Listing, error) {
	known, err := of(t).paths.get(ctx)
	if err != nil {
		return Listing{}, err
	}
	l := Listing{Left: map[string]int{}}
	if known.unknown > 0 {
		l.Left[LeftOther] = known.unknown
	}
	for _, path := range slices.Sorted(maps.Keys(known.entries)) {
		if e := known.entries[path]; e.why != nil {
			l.Left[leftFor(path, e.why)]++
		} else {
			l.Files = append(l.Files, File{path, e.hash(), e.size})
		}
	}
	return l, nil
}

// leftFor is the reason that is counted for a file of which Read would say why.
func leftFor(path string, why error) string {
	switch {
	case errors.Is(why, ErrLink):
		return LeftLink
	case errors.Is(why, errSubmodule):
		return LeftSubmodule
	case errors.Is(why, ErrTooLarge):
		return LeftLarge
	case errors.Is(why, ErrNotText):
		return LeftBinary
	case errors.Is(why, ErrRefused) && diff.CheckPath(path) == nil: // else no reader of a diff could name it
		return LeftCredential
	}
	return LeftOther
}

// ReadAll reads listed files, in their order; nil stands for one that turns out not to
// be text, or is not there. All are held in memory at once.
func ReadAll(ctx context.Context, t Tree, paths []string) ([][]byte, error) {
	f := of(t)
	known, err := f.paths.get(ctx)
	if err != nil {
		return nil, err
	}
	all, err := f.contents(ctx, known, paths)
	for i, content := range all {
		if !isText(content) {
			all[i] = nil
		}
	}
	return all, err
}

// Entries are all paths of a clone's commit: files, links and submodules; of another
// tree, which knows no modes, the files that may be read as 100644.
func Entries(ctx context.Context, t Tree) (map[string]diff.Entry, error) {
	all := map[string]diff.Entry{}
	known, err := of(t).paths.get(ctx)
	if err != nil {
		return all, err
	}
	for path, e := range known.entries {
		switch {
		case e.Mode != "":
			all[path] = e.Entry
		case e.why == nil:
			all[path] = diff.Entry{Mode: "100644", Blob: e.hash()}
		}
	}
	return all, nil
}

// of is a tree of this package. Another one answers Read and Paths, and is not listed.
func of(t Tree) *files {
	if f, ok := t.(*files); ok {
		return f
	}
	return newFiles(func(context.Context) (*table, error) {
		return nil, fmt.Errorf("a tree of type %T cannot be listed", t)
	}, nil)
}

// blobOf is git's hash of a file's content.
func blobOf(content []byte) string {
	h := sha1.New() //nolint:gosec // see above
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return fmt.Sprintf("%x", h.Sum(nil))
}
