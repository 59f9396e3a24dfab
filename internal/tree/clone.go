package tree

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/pattern"
)

// Repository is a local repository, accessed through git. Implementations must keep the
// repository's own settings from starting programs. The commands used here (ls-tree, and
// reading objects without filters) start none and touch no work tree.
type Repository interface {
	// Run runs git and returns what it prints.
	Run(ctx context.Context, args ...string) ([]byte, error)
	// Blobs returns the contents of objects, in the order of their hashes.
	Blobs(ctx context.Context, hashes []string) ([][]byte, error)
}

// maxListing is the maximum number of entries in a clone's commit.
const maxListing = 1_000_000

var (
	fullHash     = pattern.Lazy(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	errSubmodule = fmt.Errorf("%w here: it is a submodule", ErrNoFile)
	errPartial   = fmt.Errorf("%w in this clone, which is a partial one", ErrNoFile)
)

// Clone returns the tree of a commit in a local repository, given its full hash.
// The commit is listed on first use. Files are read on demand, many at once by ReadAll
// and Hold. Links and submodules are not files, and a file in Git LFS reads as its
// pointer.
func Clone(r Repository, commit string) *Tree {
	return newTree(func(ctx context.Context) (*table, error) {
		if !fullHash().MatchString(commit) {
			return nil, fmt.Errorf("%.80q is not a commit's full hash", commit)
		}
		out, err := r.Run(ctx, "ls-tree", "-r", "-z", "--long", "--full-tree", commit)
		if err != nil {
			return nil, fmt.Errorf("listing the files of %s: %w", commit, err)
		}
		return parseListing(out)
	}, func(ctx context.Context, t *table, paths []string) ([][]byte, error) {
		hashes := make([]string, len(paths))
		for i, path := range paths {
			hashes[i] = t.entries[path].Blob
		}
		contents, err := r.Blobs(ctx, hashes)
		if err != nil {
			return nil, fmt.Errorf("reading files of %s: %w", commit, err)
		}
		for i, path := range paths {
			if e := t.entries[path]; int64(len(contents[i])) != e.size {
				return nil, fmt.Errorf("git did not give file %s whole", e.Blob)
			}
		}
		return contents, nil
	})
}

// parseListing reads entries of the form "mode type hash size<tab>path<nul>".
func parseListing(out []byte) (*table, error) {
	t := newTable()
	for line := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		about, path, ok := strings.Cut(string(line), "\t")
		field := strings.Fields(about)
		if len(line) == 0 {
			continue
		}
		if !ok || len(field) != 4 || len(t.entries) >= maxListing {
			return nil, fmt.Errorf("git's list of the files is not understood, or longer than %d", maxListing)
		}
		e := entry{Entry: diff.Entry{Mode: field[0], Blob: field[2]}}
		var err error
		if e.size, err = strconv.ParseInt(field[3], 10, 64); err != nil {
			e.size = -1
		}
		switch {
		case e.Mode == "120000":
			e.why = ErrLink
		case e.Mode != "100644" && e.Mode != "100755":
			e.why = errSubmodule
		case CheckPath(path) != nil:
			e.why = ErrRefused
		case e.size < 0:
			e.why = errPartial
		case e.size > MaxFile:
			e.why = tooLarge(e.size)
		}
		t.entries[path] = e
	}
	return t, nil
}
