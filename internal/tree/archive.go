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

// Bounds on reading an archive, whether or not its entries are kept.
const (
	maxExpanded = 512 << 20 // bytes after decompression
	maxEntries  = 200_000   // entries of any kind
)

// Archive returns the tree of a gzipped tar file whose entries are in one folder,
// such as GitHub's archive of a commit
// (https://docs.github.com/en/rest/repos/contents#download-a-repository-archive-tar).
// It calls fetch on first use, and again in at most two later calls if that fails.
// Text files are held in memory within MaxFile, MaxTree and MaxFiles; nothing is
// written to disk. Links, devices, and paths that leave the folder or appear twice
// are not files.
func Archive(fetch func(ctx context.Context) (io.ReadCloser, error)) *Tree {
	return newTree(func(ctx context.Context) (*table, error) {
		body, err := fetch(ctx)
		if err != nil {
			return nil, fmt.Errorf("fetching the commit's archive: %w", err)
		}
		defer body.Close() // only read, so an error loses nothing
		t, err := unpack(ctx, body)
		if err != nil {
			return nil, fmt.Errorf("reading the commit's archive: %w", err)
		}
		return t, nil
	}, nil)
}

// unpack reads an archive to its end, or up to its bounds.
func unpack(ctx context.Context, r io.Reader) (*table, error) {
	expanded, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	bounded := &io.LimitedReader{R: expanded, N: maxExpanded}
	t, entries, root := newTable(), tar.NewReader(bounded), ""
	for n := 0; n < maxEntries && err == nil && ctx.Err() == nil; n++ {
		var h *tar.Header
		if h, err = entries.Next(); err == nil && h.Typeflag != tar.TypeXGlobalHeader { // holds the commit's hash
			err = t.addEntry(h, entries, &root)
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil || bounded.N == 0:
		t.markIncomplete(fmt.Sprintf("the archive has more than %d MiB or %d entries, and was not read further",
			maxExpanded>>20, maxEntries))
		return t, nil
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	_, err = io.Copy(io.Discard, bounded) // gzip's checksum follows the tar's end
	return t, err
}

// addEntry records an entry, or why it is not held. root is the archive's folder, set by the first entry.
func (t *table) addEntry(h *tar.Header, content io.Reader, root *string) error {
	folder, path, _ := strings.Cut(h.Name, "/")
	if *root == "" {
		*root = folder
	}
	path = strings.Clone(path) // so that a kept path does not keep the folder's name in memory
	switch {
	case folder == "" || folder != *root:
		t.markIncomplete("the archive has entries outside of its folder")
	case h.Typeflag == tar.TypeDir:
	case h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink:
		t.noteSkipped(path, notFollowed(h.Linkname))
	case h.Typeflag != tar.TypeReg:
		t.noteSkipped(path, fmt.Errorf("%w: it is a device or the like", ErrRefused))
	case CheckPath(path) != nil:
		t.put(path, nil)
	case h.Size > MaxFile:
		t.noteSkipped(path, tooLarge(h.Size))
	default:
		text := make([]byte, h.Size)
		if _, err := io.ReadFull(content, text); err != nil {
			return fmt.Errorf("%q: %w", path, err)
		}
		t.put(path, text)
	}
	return nil
}
