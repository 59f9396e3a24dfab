package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
)

// Folder is the files of a folder as they are now, of no commit. Git's own folders are
// passed over, links are not followed, and nothing outside of it is read. It is looked
// through when the tree is first asked.
func Folder(root string) Tree {
	f := &folder{root: root}
	f.found = newLazy(f.walk)
	return f
}

type folder struct {
	root  string
	found *lazy[*found]
}

// found is what a walk through a folder came by.
type found struct {
	paths []string // sorted
	Listing
}

func (f *folder) Read(ctx context.Context, name string) ([]byte, error) {
	if err := CheckPath(name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readIn(root, name)
}

// readIn reads a file by its bounds.
func readIn(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%q: %w", name, ErrNoFile)
	case err != nil: // such as a link in the path that leads out of the folder
		return nil, fmt.Errorf("%q: %w that can be read: %w", name, ErrNoFile, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%q: %w", name, ErrLink)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q: %w", name, ErrNoFile)
	case info.Size() > MaxFile:
		return nil, fmt.Errorf("%q: %w", name, tooLarge(info.Size()))
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // nothing was written that closing could lose
	content, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > MaxFile: // it grew
		return nil, fmt.Errorf("%q: %w", name, tooLarge(int64(len(content))))
	case !isText(content):
		return nil, fmt.Errorf("%q: %w", name, ErrNotText)
	}
	return content, nil
}

func (f *folder) Paths(ctx context.Context) ([]string, error) {
	found, err := f.found.get(ctx)
	if err != nil {
		return nil, err
	}
	return found.paths, nil
}

// walk lists the files, in order of path; more than maxEntries are left out.
func (f *folder) walk(ctx context.Context) (*found, error) {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all := &found{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == ".":
			return err
		case err != nil: // a folder that may not be read, or is gone by now
			all.leave(LeftOther)
		case d.IsDir() && path.Base(name) == ".git":
			return fs.SkipDir
		case d.IsDir():
		case d.Type()&fs.ModeSymlink != 0:
			all.leave(LeftLink)
		case refusedFor(name) != "":
			all.leave(refusedFor(name))
		case !d.Type().IsRegular() || len(all.paths) >= maxEntries:
			all.leave(LeftOther)
		default:
			all.paths = append(all.paths, name)
		}
		return nil
	})
	slices.Sort(all.paths)
	return all, err
}

func (f *folder) list(ctx context.Context) (Listing, error) {
	found, err := f.found.get(ctx)
	if err != nil {
		return Listing{}, err
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return Listing{}, err
	}
	defer root.Close()
	l := Listing{}
	for reason, n := range found.Left {
		for range n {
			l.leave(reason)
		}
	}
	for _, name := range found.paths {
		if ctx.Err() != nil {
			return Listing{}, ctx.Err()
		}
		content, err := readIn(root, name)
		if err != nil {
			l.leaveFor(err)
			continue
		}
		l.Files = append(l.Files, File{name, blobOf(content), int64(len(content))})
	}
	return l, nil
}

func (f *folder) readAll(ctx context.Context, paths []string) ([][]byte, error) {
	all := make([][]byte, len(paths))
	for i, name := range paths {
		content, err := f.Read(ctx, name)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		all[i] = content // nil where it changed meanwhile
	}
	return all, nil
}
