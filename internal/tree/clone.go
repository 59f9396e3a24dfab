package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Git runs git on one repository with an input and returns what it printed. It
// has to keep the repository's own settings from starting programs; what is asked
// here (ls-tree, cat-file without filters) starts none and touches no work tree.
type Git func(ctx context.Context, input io.Reader, args ...string) ([]byte, error)

// maxListing bounds the entries of a commit in a clone.
const maxListing = 1_000_000

// Clone is the tree of a commit, named by its full hash, of a local repository.
// The commit is listed when the tree is first asked, files are read one by one,
// and for a search all of them once. Links and submodules are no files, and what
// Git LFS stores elsewhere is its pointer.
func Clone(git Git, commit string) Tree {
	c := &clone{git: git, commit: commit}
	c.listed = newLazy(c.listing)
	c.held = newLazy(func(ctx context.Context) (*memory, error) {
		return c.load(ctx, func(string) bool { return true })
	})
	return c
}

type clone struct {
	git    Git
	commit string
	listed *lazy[map[string]blob]
	held   *lazy[*memory]
}

// blob is an entry of a commit.
type blob struct {
	mode, id string
	size     int64 // bytes; -1 where it is not known
}

func (b blob) file() bool { return b.mode == "100644" || b.mode == "100755" }
func (b blob) link() bool { return b.mode == "120000" }

func (c *clone) Read(ctx context.Context, path string) ([]byte, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	blobs, err := c.listed.get(ctx)
	if err != nil {
		return nil, err
	}
	b, known := blobs[path]
	switch {
	case !known:
		return nil, fmt.Errorf("%q: %w", path, ErrNoFile)
	case !b.file() && !b.link():
		return nil, fmt.Errorf("%q: %w here: it is a submodule", path, ErrNoFile)
	case b.size < 0:
		return nil, fmt.Errorf("%q: %w in this clone, which is a partial one", path, ErrNoFile)
	case b.size > MaxFile:
		return nil, fmt.Errorf("%q: %w", path, tooLarge(b.size))
	}
	contents, err := c.read(ctx, []blob{b})
	switch {
	case err != nil:
		return nil, err
	case b.link():
		return nil, fmt.Errorf("%q: %w", path, notFollowed(string(contents[0])))
	case !isText(contents[0]):
		return nil, fmt.Errorf("%q: %w", path, ErrNotText)
	}
	return contents[0], nil
}

func (c *clone) Paths(ctx context.Context) ([]string, error) {
	blobs, err := c.listed.get(ctx)
	if err != nil {
		return nil, err
	}
	paths := []string{}
	for path, b := range blobs {
		if b.file() && b.size >= 0 && b.size <= MaxFile && CheckPath(path) == nil {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

func (c *clone) all(ctx context.Context) (*memory, error) { return c.held.get(ctx) }

// load reads what a search looks at, of the wanted files.
func (c *clone) load(ctx context.Context, want func(path string) bool) (*memory, error) {
	blobs, err := c.listed.get(ctx)
	if err != nil {
		return nil, err
	}
	paths, err := c.Paths(ctx)
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return !want(path) })
	m, wanted, size := newMemory(), []blob{}, 0
	for i, path := range paths {
		if size += len(path) + int(blobs[path].size); size > MaxTree || i >= MaxFiles {
			m.rest = fmt.Sprintf("the commit has more than %d files or %d MiB", MaxFiles, MaxTree>>20)
			paths = paths[:i]
			break
		}
		wanted = append(wanted, blobs[path])
	}
	contents, err := c.read(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		m.put(path, contents[i])
	}
	return m, nil
}

var fullHash = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

func (c *clone) listing(ctx context.Context) (map[string]blob, error) {
	if !fullHash.MatchString(c.commit) {
		return nil, fmt.Errorf("%.80q is not a commit's full hash", c.commit)
	}
	out, err := c.git(ctx, nil, "ls-tree", "-r", "-z", "--long", "--full-tree", c.commit)
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", c.commit, err)
	}
	return parseListing(out)
}

// parseListing reads entries of the form "mode type hash size<tab>path<nul>".
func parseListing(out []byte) (map[string]blob, error) {
	blobs := map[string]blob{}
	for entry := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		about, path, ok := strings.Cut(string(entry), "\t")
		field := strings.Fields(about)
		if len(entry) == 0 {
			continue
		}
		if !ok || len(field) != 4 || len(blobs) >= maxListing {
			return nil, fmt.Errorf("git's list of the files is not understood, or longer than %d", maxListing)
		}
		b := blob{mode: field[0], id: field[2], size: -1}
		if size, err := strconv.ParseInt(field[3], 10, 64); err == nil && size >= 0 {
			b.size = size
		}
		blobs[path] = b
	}
	return blobs, nil
}

func (c *clone) read(ctx context.Context, blobs []blob) ([][]byte, error) {
	var ids strings.Builder
	for _, b := range blobs {
		ids.WriteString(b.id + "\n")
	}
	out, err := c.git(ctx, strings.NewReader(ids.String()), "cat-file", "--batch")
	if err != nil {
		return nil, fmt.Errorf("reading files of %s: %w", c.commit, err)
	}
	return parseBatch(out, blobs)
}

// parseBatch reads "hash blob size<lf>content<lf>" for each blob in turn.
func parseBatch(out []byte, blobs []blob) ([][]byte, error) {
	contents := make([][]byte, 0, len(blobs))
	for _, b := range blobs {
		rest, ok := bytes.CutPrefix(out, fmt.Appendf(nil, "%s blob %d\n", b.id, b.size))
		if !ok || b.size < 0 || int64(len(rest)) <= b.size || rest[b.size] != '\n' {
			return nil, fmt.Errorf("git did not give file %s whole", b.id)
		}
		contents, out = append(contents, rest[:b.size:b.size]), rest[b.size+1:]
	}
	if len(out) > 0 {
		return nil, errors.New("git gave more than was asked")
	}
	return contents, nil
}
