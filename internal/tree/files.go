package tree

import (
	"context"
	"crypto/sha1" //nolint:gosec // it names content as git does
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/org/pr-review-action/internal/diff"
)

// Tree gives access to the files of one commit. It lists the paths on first use, and reads
// texts on demand unless it holds them. It is safe for concurrent use, never leaves the
// commit whatever a path says, and follows no link.
type Tree struct {
	paths *lazy[*table]
	read  reader // nil if the table holds all texts

	turn         chan struct{} // full while Hold changes what follows
	held         sync.Map      // from path to content, of files that are not in the table
	files, bytes int           // of held
}

// reader reads files that are not in the table, in order. The content of one that has disappeared is nil.
type reader func(ctx context.Context, t *table, paths []string) ([][]byte, error)

func newTree(list func(context.Context) (*table, error), read reader) *Tree {
	return &Tree{paths: newLazy(list), read: read, turn: make(chan struct{}, 1)}
}

// newMemoryTree returns a tree whose texts are in the table.
func newMemoryTree(t *table) *Tree {
	return newTree(func(context.Context) (*table, error) { return t, nil }, nil)
}

// With returns a tree of the same files and those in a map from path to text, which may replace
// files of f.
func (f *Tree) With(content map[string]string) *Tree {
	over := tableOf(content)
	return newTree(func(ctx context.Context) (*table, error) {
		below, err := f.paths.get(ctx)
		if err != nil {
			return nil, err
		}
		both := *below
		both.entries = maps.Clone(below.entries)
		maps.Copy(both.entries, over.entries)
		return &both, nil
	}, f.read)
}

// Read returns a file's bytes, which the caller must not change. The error wraps ErrNoFile,
// ErrNotText, ErrTooLarge, ErrLink or ErrRefused, or is the source's own.
func (f *Tree) Read(ctx context.Context, path string) ([]byte, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	t, err := f.paths.get(ctx)
	if err != nil {
		return nil, err
	}
	e, known := t.entries[path]
	link := e.why == ErrLink && e.Blob != "" && e.size >= 0 && e.size <= MaxFile // its target can be read
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

// Paths returns the sorted paths of the files that may be read. Some may turn out not to be
// text; paths that CheckPath refuses are left out.
func (f *Tree) Paths(ctx context.Context) ([]string, error) {
	t, err := f.paths.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.readablePaths(), nil
}

// contents returns the contents of listed files in order, from memory if they are held there.
func (f *Tree) contents(ctx context.Context, t *table, paths []string) ([][]byte, error) {
	all, left := make([][]byte, len(paths)), []string(nil)
	for i, path := range paths {
		if held, ok := f.held.Load(path); ok {
			all[i], _ = held.([]byte)
		} else if all[i] = t.entries[path].content; all[i] == nil {
			left = append(left, path)
		}
	}
	if f.read == nil || len(left) == 0 {
		return all, nil
	}
	read, err := f.read(ctx, t, left)
	for i := range all {
		if all[i] == nil && len(read) > 0 {
			all[i], read = read[0], read[1:]
		}
	}
	return all, err
}

// Hold returns what ReadAll does for the first of the paths, about MaxFile bytes of text, and keeps it in memory for
// all later calls, up to MaxFiles and MaxTree. Callers take turns, so that none reads what another is reading.
func (f *Tree) Hold(ctx context.Context, paths []string) ([][]byte, error) {
	known, err := f.paths.get(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-f.turn }()
	n := 0
	for size := int64(0); n < len(paths) && size < MaxFile; n++ {
		size += known.entries[paths[n]].size
	}
	all, err := f.contents(ctx, known, paths[:n])
	for i, text := range all {
		if !isText(text) {
			all[i], text = nil, []byte{0} // as little as is not text
		}
		_, held := f.held.Load(paths[i])
		size, keep := len(paths[i])+len(text), err == nil && f.read != nil && text != nil && !held
		if keep && f.files < MaxFiles && f.bytes+size <= MaxTree {
			f.held.Store(paths[i], text)
			f.files, f.bytes = f.files+1, f.bytes+size
		}
	}
	return all, err
}

// File is a file of a commit that may be read.
type File struct {
	Path string
	Blob string // git's hash of its content, in hex
	Size int64  // bytes
}

// Listing holds the files of a commit that may be read, and counts the others.
type Listing struct {
	Files   []File         // sorted by path
	Left    map[string]int // number of other paths, by reason (Left…)
	Missing string         // why there may be more; empty if there are none
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

// List lists the files of a tree. In a clone it reads no contents.
func (f *Tree) List(ctx context.Context) (Listing, error) {
	known, err := f.paths.get(ctx)
	if err != nil {
		return Listing{}, err
	}
	l := Listing{Left: map[string]int{}, Missing: known.rest}
	if known.unknown > 0 {
		l.Left[LeftOther] = known.unknown
	}
	for _, path := range slices.Sorted(maps.Keys(known.entries)) {
		if e := known.entries[path]; e.why != nil {
			l.Left[leftFor(path, e.why)]++
		} else {
			l.Files = append(l.Files, File{path, e.Blob, e.size})
		}
	}
	return l, nil
}

// leftFor returns the reason under which List counts a path that is not read because of why.
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
	case errors.Is(why, ErrRefused) && diff.CheckPath(path) == nil: // other refused paths are not valid diff paths
		return LeftCredential
	}
	return LeftOther
}

// ReadAll returns the contents of listed files, in order; nil for one that is missing or
// turns out not to be text. All are in memory at once.
func (f *Tree) ReadAll(ctx context.Context, paths []string) ([][]byte, error) {
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

// Entries returns all paths of a clone's commit: files, links and submodules. Other trees
// do not know modes; for them it returns the readable files, with mode 100644.
func (f *Tree) Entries(ctx context.Context) (map[string]diff.Entry, error) {
	all := map[string]diff.Entry{}
	known, err := f.paths.get(ctx)
	if err != nil {
		return all, err
	}
	for path, e := range known.entries {
		if e.Mode != "" {
			all[path] = e.Entry
		}
	}
	return all, nil
}

// fileOf returns the entry of a file of which only the content is known.
func fileOf(content []byte) entry {
	h := sha1.New() //nolint:gosec // see above
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return entry{Entry: diff.Entry{Mode: "100644", Blob: fmt.Sprintf("%x", h.Sum(nil))}, size: int64(len(content))}
}

// maxTries bounds the attempts to load from a source that fails: the first call, and
// at most two later ones.
const maxTries = 3

// lazy loads a value once for all callers. Only one of them loads at a time.
type lazy[T any] struct {
	load  func(context.Context) (T, error)
	turn  chan struct{} // full while a caller loads
	tries int           // failed attempts; maxTries once loaded
	value T
	err   error // of the last attempt
}

func newLazy[T any](load func(context.Context) (T, error)) *lazy[T] {
	return &lazy[T]{load: load, turn: make(chan struct{}, 1)}
}

// get returns the value, or the error of its own attempt; after maxTries, that of the
// last one. An attempt that was cancelled does not count.
func (l *lazy[T]) get(ctx context.Context) (T, error) {
	var none T
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	defer func() { <-l.turn }()
	if l.tries >= maxTries {
		return l.value, l.err
	}
	value, err := l.load(ctx)
	switch {
	case err == nil:
		l.value, l.err, l.tries = value, nil, maxTries
	case !errors.Is(ctx.Err(), context.Canceled):
		l.tries, l.err = l.tries+1, err
	}
	return value, err
}
