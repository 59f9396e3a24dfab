package tree

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
)

// Folder is the files of a folder as they are now, of no commit. Git's own folders are
// passed over, links are not followed, and nothing outside of it is read. It is looked
// through, and every file is read for its hash, when the tree is first asked.
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
			all[i], _ = readIn(in, name) // nil where it changed meanwhile
		}
		return all, nil
	})
}

// walk looks at all files; more than maxEntries are left out.
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
		case err != nil || len(t.entries) >= maxEntries: // a folder that may not be read, or is gone by now
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

// readIn reads a file by its bounds.
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
	defer file.Close() // nothing was written that closing could lose
	content, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > MaxFile: // it grew
		return nil, tooLarge(int64(len(content)))
	case !isText(content):
		return nil, ErrNotText
	}
	return content, nil
}
