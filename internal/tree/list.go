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

func (l *Listing) leave(reason string) {
	if l.Left == nil {
		l.Left = map[string]int{}
	}
	l.Left[reason]++
}

// leaveFor counts a file for what Read says of it.
func (l *Listing) leaveFor(why error) {
	for kind, reason := range map[error]string{ErrLink: LeftLink, ErrTooLarge: LeftLarge, ErrNotText: LeftBinary,
		ErrRefused: LeftCredential} {
		if errors.Is(why, kind) {
			l.leave(reason)
			return
		}
	}
	l.leave(LeftOther)
}

// refusedFor is why a path is not shown; empty for one that is.
func refusedFor(path string) string {
	switch {
	case CheckPath(path) == nil:
		return ""
	case diff.CheckPath(path) != nil: // no reader of a diff could name it
		return LeftOther
	}
	return LeftCredential
}

// several is a tree that lists its files with their hashes, and reads many at once.
type several interface {
	list(ctx context.Context) (Listing, error)
	readAll(ctx context.Context, paths []string) ([][]byte, error)
}

// List lists the files of a tree. In a clone nothing is read for that.
func List(ctx context.Context, t Tree) (Listing, error) {
	if s, ok := t.(several); ok {
		return s.list(ctx)
	}
	paths, err := t.Paths(ctx)
	if err != nil {
		return Listing{}, err
	}
	var l Listing
	for _, path := range paths {
		content, err := t.Read(ctx, path)
		switch {
		case err != nil && !AboutFile(err):
			return Listing{}, err
		case err != nil:
			l.leaveFor(err)
		default:
			l.Files = append(l.Files, File{path, blobOf(content), int64(len(content))})
		}
	}
	return l, nil
}

// ReadAll reads listed files, in their order; nil stands for one that turns out not to
// be text, or is not there. All are held in memory at once.
func ReadAll(ctx context.Context, t Tree, paths []string) ([][]byte, error) {
	if s, ok := t.(several); ok {
		return s.readAll(ctx, paths)
	}
	all := make([][]byte, len(paths))
	for i, path := range paths {
		content, err := t.Read(ctx, path)
		if err != nil && !AboutFile(err) {
			return nil, err
		}
		all[i] = content
	}
	return all, nil
}

// blobOf is git's hash of a file's content.
func blobOf(content []byte) string {
	h := sha1.New() //nolint:gosec // see above
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (m *memory) list(context.Context) (Listing, error) {
	var l Listing
	for _, path := range slices.Sorted(maps.Keys(m.content)) {
		l.Files = append(l.Files, File{path, blobOf(m.content[path]), int64(len(m.content[path]))})
	}
	for _, why := range m.left {
		l.leaveFor(why)
	}
	if m.rest != "" {
		l.leave(LeftOther)
	}
	return l, nil
}

func (m *memory) readAll(_ context.Context, paths []string) ([][]byte, error) {
	all := make([][]byte, len(paths))
	for i, path := range paths {
		all[i] = m.content[path]
	}
	return all, nil
}

func (a archive) list(ctx context.Context) (Listing, error) {
	m, err := a.files.get(ctx)
	if err != nil {
		return Listing{}, err
	}
	return m.list(ctx)
}

func (a archive) readAll(ctx context.Context, paths []string) ([][]byte, error) {
	m, err := a.files.get(ctx)
	if err != nil {
		return nil, err
	}
	return m.readAll(ctx, paths)
}

func (c *clone) list(ctx context.Context) (Listing, error) {
	blobs, err := c.listed.get(ctx)
	if err != nil {
		return Listing{}, err
	}
	var l Listing
	for _, path := range slices.Sorted(maps.Keys(blobs)) {
		switch b := blobs[path]; {
		case b.link():
			l.leave(LeftLink)
		case !b.file():
			l.leave(LeftSubmodule)
		case refusedFor(path) != "":
			l.leave(refusedFor(path))
		case b.size < 0:
			l.leave(LeftOther)
		case b.size > MaxFile:
			l.leave(LeftLarge)
		default:
			l.Files = append(l.Files, File{path, b.id, b.size})
		}
	}
	return l, nil
}

// Entry is a path of a commit, whatever it is, with Git's mode and name of it.
type Entry struct{ Mode, Blob string }

// Entries are all paths of a clone's commit: files, links and submodules; of another
// tree, which knows no modes, the files that may be read as 100644.
func Entries(ctx context.Context, t Tree) (map[string]Entry, error) {
	all := map[string]Entry{}
	c, ok := t.(*clone)
	if !ok {
		l, err := List(ctx, t)
		for _, f := range l.Files {
			all[f.Path] = Entry{"100644", f.Blob}
		}
		return all, err
	}
	blobs, err := c.listed.get(ctx)
	for path, b := range blobs {
		all[path] = Entry{b.mode, b.id}
	}
	return all, err
}

func (c *clone) readAll(ctx context.Context, paths []string) ([][]byte, error) {
	blobs, err := c.listed.get(ctx)
	if err != nil {
		return nil, err
	}
	wanted := make([]blob, len(paths))
	for i, path := range paths {
		if wanted[i] = blobs[path]; wanted[i].size < 0 || !wanted[i].file() {
			return nil, fmt.Errorf("%q: %w", path, ErrNoFile)
		}
	}
	all, err := c.read(ctx, wanted)
	for i, content := range all {
		if !isText(content) {
			all[i] = nil
		}
	}
	return all, err
}
