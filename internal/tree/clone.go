package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
)

// Git runs git on one repository with an input and returns what it printed. It
// has to keep the repository's own settings from starting programs; what is asked
// here (ls-tree, cat-file without filters) starts none and touches no work tree.
type Git func(ctx context.Context, input io.Reader, args ...string) ([]byte, error)

// maxListing bounds the entries of a commit in a clone.
const maxListing = 1_000_000

var (
	fullHash     = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	errSubmodule = fmt.Errorf("%w here: it is a submodule", ErrNoFile)
	errPartial   = fmt.Errorf("%w in this clone, which is a partial one", ErrNoFile)
)

// Clone is the tree of a commit, named by its full hash, of a local repository.
// The commit is listed when the tree is first asked, files are read one by one,
// and for a search all of them once. Links and submodules are no files, and what
// Git LFS stores elsewhere is its pointer.
func Clone(git Git, commit string) Tree {
	return newFiles(func(ctx context.Context) (*table, error) {
		if !fullHash.MatchString(commit) {
			return nil, fmt.Errorf("%.80q is not a commit's full hash", commit)
		}
		out, err := git(ctx, nil, "ls-tree", "-r", "-z", "--long", "--full-tree", commit)
		if err != nil {
			return nil, fmt.Errorf("listing the files of %s: %w", commit, err)
		}
		return parseListing(out)
	}, func(ctx context.Context, t *table, paths []string) ([][]byte, error) {
		var ids strings.Builder
		for _, path := range paths {
			ids.WriteString(t.entries[path].Blob + "\n")
		}
		out, err := git(ctx, strings.NewReader(ids.String()), "cat-file", "--batch")
		if err != nil {
			return nil, fmt.Errorf("reading files of %s: %w", commit, err)
		}
		return parseBatch(out, t, paths)
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

// parseBatch reads "hash blob size<lf>content<lf>" for each path in turn.
func parseBatch(out []byte, t *table, paths []string) ([][]byte, error) {
	contents := make([][]byte, 0, len(paths))
	for _, path := range paths {
		e := t.entries[path]
		rest, ok := bytes.CutPrefix(out, fmt.Appendf(nil, "%s blob %d\n", e.Blob, e.size))
		if !ok || e.size < 0 || int64(len(rest)) <= e.size || rest[e.size] != '\n' {
			return nil, fmt.Errorf("git did not give file %s whole", e.Blob)
		}
		contents, out = append(contents, rest[:e.size:e.size]), rest[e.size+1:]
	}
	if len(out) > 0 {
		return nil, errors.New("git gave more than was asked")
	}
	return contents, nil
}
