package tree

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
)

// Folder returns the tree of a folder as it is now, without a commit. It skips git's own
// folders, follows no link, and reads nothing outside the folder. On first use it walks the
// folder and hashes every file up to MaxFile; contents are read again on demand.
func Folder(root string) *Tree {
	return newTree(func(ctx context.Context) (*table, error) {
		in, err := os.OpenRoot(root)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		return walk(ctx, in)
	}, func(ctx context.Context, _ *table, paths []string) ([][]byte, error) {
		in, err := os.OpenRoot(root)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		all := make([][]byte, len(paths))
		for i, name := range paths {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			all[i], _ = readIn(in, name) // nil if it has changed since and is not readable
		}
		return all, nil
	})
}

// walk lists all files and reads them for their hashes. Files beyond maxEntries are only counted.
func walk(ctx context.Context, root *os.Root) (*table, error) {
	t := newTable()
	return t, fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		var e entry
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == ".":
			return err
		case err == nil && d.IsDir() && path.Base(name) == ".git":
			return fs.SkipDir
		case err == nil && d.IsDir():
			return nil
		case err != nil || len(t.entries) >= maxEntries: // or unreadable, or gone by now
			t.unknown++
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			e.why = ErrLink
		case CheckPath(name) != nil:
			e.why = ErrRefused
		default:
			var content []byte
			if content, e.why = readIn(root, name); e.why == nil {
				e = fileOf(content)
			}
		}
		t.entries[name] = e
		return nil
	})
}

// readIn reads a text file of at most MaxFile bytes.
func readIn(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, ErrNoFile
	case info.Size() > MaxFile:
		return nil, tooLarge(info.Size())
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read, so an error loses nothing
	content, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > MaxFile: // it has grown
		return nil, tooLarge(int64(len(content)))
	case !isText(content):
		return nil, ErrNotText
	}
	return content, nil
}
