package tree

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds of what is read of an archive, before anything is kept.
const (
	maxExpanded = 512 << 20 // bytes behind the compression
	maxEntries  = 200_000   // files, folders and links
)

// Archive is the tree of a gzipped tar file whose entries stand in one folder,
// such as GitHub makes of a commit
// (https://docs.github.com/en/rest/repos/contents#download-a-repository-archive-tar).
// fetch is called when the tree is first asked, and again by at most two later
// calls where that failed. The text files are held in memory within MaxFile,
// MaxTree and MaxFiles; nothing is written to disk. Links, devices, and paths
// that leave the folder or come twice are no files.
func Archive(fetch func(ctx context.Context) (io.ReadCloser, error)) Tree {
	return archive{newLazy(func(ctx context.Context) (*memory, error) {
		body, err := fetch(ctx)
		if err != nil {
			return nil, fmt.Errorf("fetching the commit's archive: %w", err)
		}
		defer body.Close() // nothing was written that closing could lose
		m, err := unpack(ctx, body)
		if err != nil {
			return nil, fmt.Errorf("reading the commit's archive: %w", err)
		}
		return m, nil
	})}
}

type archive struct{ files *lazy[*memory] }

func (a archive) Read(ctx context.Context, path string) ([]byte, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	m, err := a.files.get(ctx)
	if err != nil {
		return nil, err
	}
	return m.Read(ctx, path)
}

func (a archive) Paths(ctx context.Context) ([]string, error) {
	m, err := a.files.get(ctx)
	if err != nil {
		return nil, err
	}
	return m.Paths(ctx)
}

func (a archive) all(ctx context.Context) (*memory, error) { return a.files.get(ctx) }

// unpack reads an archive to its end, or as far as its bounds reach.
func unpack(ctx context.Context, r io.Reader) (*memory, error) {
	expanded, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	bounded := &io.LimitedReader{R: watched{ctx, expanded}, N: maxExpanded}
	m, u := newMemory(), unpacker{entries: tar.NewReader(bounded)}
	for u.count < maxEntries && err == nil {
		err = u.next(m)
	}
	switch {
	case err == nil || bounded.N == 0:
		m.rest = fmt.Sprintf("the archive has more than %d MiB or %d entries, and was not read further",
			maxExpanded>>20, maxEntries)
		return m, nil
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	_, err = io.Copy(io.Discard, bounded) // behind the end stands the checksum of all
	return m, err
}

// unpacker goes through the entries of an archive.
type unpacker struct {
	entries *tar.Reader
	count   int
	root    string // the folder that holds all
}

// next takes one entry in; io.EOF behind the last.
func (u *unpacker) next(m *memory) error {
	h, err := u.entries.Next()
	if err != nil {
		return err
	}
	u.count++
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil // git notes the commit in it
	}
	root, path, _ := strings.Cut(h.Name, "/")
	if u.root == "" {
		u.root = root
	}
	path = strings.Clone(path) // what is kept of an entry is not to keep the folder's name too
	switch {
	case root == "" || root != u.root:
		m.rest = "the archive has entries outside of its folder"
	case h.Typeflag == tar.TypeDir:
	case h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink:
		m.leave(path, notFollowed(h.Linkname))
	case h.Typeflag != tar.TypeReg:
		m.leave(path, fmt.Errorf("%w: it is a device or the like", ErrRefused))
	case CheckPath(path) != nil:
		m.put(path, nil)
	case h.Size > MaxFile:
		m.leave(path, tooLarge(h.Size))
	default:
		content := make([]byte, h.Size)
		if _, err := io.ReadFull(u.entries, content); err != nil {
			return fmt.Errorf("%q: %w", path, err)
		}
		m.put(path, content)
	}
	return nil
}

// watched stops reading when its context ends.
type watched struct {
	ctx context.Context
	r   io.Reader
}

func (w watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}
