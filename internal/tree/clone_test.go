package tree_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/tree"
)

// repository is a folder with a clone in it.
type repository struct {
	t     *testing.T
	dir   string
	calls *atomic.Int32
}

func newClone(t *testing.T) repository {
	t.Helper()
	r := repository{t, t.TempDir(), &atomic.Int32{}}
	r.git("init", "--quiet", "--initial-branch=main")
	return r
}

// Run makes the repository a tree.Repository, with Blobs.
func (r repository) Run(ctx context.Context, args ...string) ([]byte, error) {
	r.calls.Add(1)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1")
	return cmd.Output()
}

func (r repository) Blobs(ctx context.Context, hashes []string) (texts [][]byte, err error) {
	for _, hash := range hashes {
		text, err := r.Run(ctx, "cat-file", "blob", hash)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	r.calls.Add(int32(1 - len(hashes)))
	return texts, nil
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	out, err := r.Run(context.WithoutCancel(r.t.Context()),
		append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	require.NoError(r.t, err, "%v", args)
	return strings.TrimSpace(string(out))
}

func (r repository) commit(files map[string]string) string {
	r.t.Helper()
	for path, text := range files {
		full := filepath.Join(r.dir, path)
		require.NoError(r.t, os.MkdirAll(filepath.Dir(full), 0o700))
		require.NoError(r.t, os.WriteFile(full, []byte(text), 0o600))
	}
	r.git("add", "--all", "--force")
	r.git("commit", "--quiet", "--allow-empty", "--no-verify", "--message", "x")
	return r.git("rev-parse", "HEAD")
}

func TestAClonesTreeIsThatOfItsCommit(t *testing.T) {
	t.Parallel()
	r := newClone(t)
	before := r.commit(map[string]string{"dir/ä\nb.go": "old\n", "kept.go": "kept\n"})
	after := r.commit(map[string]string{"dir/ä\nb.go": "new\n"})
	r.commit(map[string]string{"later.go": "later\n"})
	for commit, want := range map[string]string{before: "old\n", after: "new\n"} {
		source := tree.Clone(r, commit)
		content, err := source.Read(t.Context(), "dir/ä\nb.go")
		require.NoError(t, err)
		require.Equal(t, want, string(content))
		paths, err := source.Paths(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"dir/ä\nb.go", "kept.go"}, paths)
	}
}

func TestT8_AClonesLinksAndSubmodulesAreNoFiles(t *testing.T) {
	t.Parallel()
	r := newClone(t)
	require.NoError(t, os.Symlink("/proc/self/environ", filepath.Join(r.dir, "link")))
	big := strings.Repeat("0123456789abcde\n", tree.MaxFile/16+1)
	r.commit(map[string]string{"a.go": "a\n", "big.txt": big})
	// behind the commit, which would take it out
	r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("ab", 20)+",sub")
	r.git("commit", "--quiet", "--no-verify", "--message", "sub")
	source := tree.Clone(r, r.git("rev-parse", "HEAD"))
	for path, want := range map[string]error{"link": tree.ErrLink, "sub": tree.ErrNoFile, "link/x": tree.ErrNoFile,
		"big.txt": tree.ErrTooLarge} {
		_, err := source.Read(t.Context(), path)
		require.ErrorIs(t, err, want, path)
	}
	_, err := source.Read(t.Context(), "link")
	require.ErrorContains(t, err, `it is a link to "/proc/self/environ"`)
	_, err = source.Read(t.Context(), "sub")
	require.ErrorContains(t, err, `"sub": there is no such file here: it is a submodule`)
	paths, err := source.Paths(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a.go"}, paths)
	require.Equal(t, map[string]string{"a.go": "a\n"}, whole(t, source))
}

func TestT16_ReadingACloneRunsNothingOfIt(t *testing.T) {
	t.Parallel()
	r := newClone(t)
	trace := filepath.Join(t.TempDir(), "ran")
	plain := r.commit(map[string]string{"a.go": "hit\n", ".gitattributes": "* filter=evil diff=evil text eol=crlf\n"})
	for _, key := range []string{"filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv",
		"core.fsmonitor", "core.pager"} {
		r.git("config", key, "touch "+trace)
	}
	source := tree.Clone(r, plain)
	content, err := source.Read(t.Context(), "a.go")
	require.NoError(t, err)
	require.Equal(t, "hit\n", string(content))
	require.Equal(t, "hit\n", whole(t, source)["a.go"])
	require.NoFileExists(t, trace)
}

func TestACloneIsListedOnceAndReadWholeWithOneCall(t *testing.T) {
	t.Parallel()
	r := newClone(t)
	commit := r.commit(map[string]string{"a.go": "hit\n", "b.go": "hit\n", "c/d.go": "hit\n", "bin": "\x00hit"})
	r.calls.Store(0)
	source := tree.Clone(r, commit)
	for range 3 {
		require.Equal(t, map[string]string{"a.go": "hit\n", "b.go": "hit\n", "c/d.go": "hit\n"}, whole(t, source))
	}
	require.EqualValues(t, 2, r.calls.Load())
}

// counting is a repository that counts the contents that it is asked for.
type counting struct {
	scripted
	asked *atomic.Int32
}

func (c counting) Blobs(ctx context.Context, hashes []string) ([][]byte, error) {
	c.asked.Add(int32(len(hashes)))
	runtime.Gosched()
	return c.scripted.Blobs(ctx, hashes)
}

// holdAll holds all these files, a batch at a time, and returns what was given.
func holdAll(t *testing.T, source *tree.Tree, paths []string) (all [][]byte) {
	t.Helper()
	for len(all) < len(paths) {
		batch, err := source.Hold(t.Context(), paths[len(all):])
		require.NoError(t, err)
		require.NotEmpty(t, batch)
		all = append(all, batch...)
	}
	return all
}

// listingOf returns git's list of n files of this size.
func listingOf(n, size int) (listing string, paths []string) {
	var b strings.Builder
	for i := range n {
		paths = append(paths, fmt.Sprint(i))
		fmt.Fprintf(&b, "100644 blob %d %d\t%d\x00", i, size, i)
	}
	return b.String(), paths
}

func TestT23_WhatIsHeldIsReadOnceWithinItsBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ files, size, kept, batch int }{
		"bytes": {tree.MaxTree/tree.MaxFile + 2, tree.MaxFile, tree.MaxTree/tree.MaxFile - 1, 1},
		"files": {tree.MaxFiles + 2, 2, tree.MaxFiles, tree.MaxFiles + 2},
		"batch": {600, tree.MaxFile / 4, 511, 4},
	} {
		t.Run(name, func(t *testing.T) {
			listing, paths := listingOf(c.files, c.size)
			asked := &atomic.Int32{}
			source := tree.Clone(counting{scripted{listing, strings.Repeat("x", c.size)}, asked}, strings.Repeat("12", 20))
			for range 3 {
				holdAll(t, source, paths[:c.files/2])
			}
			for range 2 {
				all := holdAll(t, source, paths)
				require.Len(t, all[c.files-1], c.size, "what has no room is read all the same")
			}
			require.EqualValues(t, 2*c.files-c.kept, asked.Load())
			batch, err := source.Hold(t.Context(), paths)
			require.NoError(t, err)
			require.Len(t, batch, c.batch)
		})
	}
}

func TestOneReadsAheadForAllWhoHold(t *testing.T) {
	t.Parallel()
	listing, paths := listingOf(40, tree.MaxFile/4)
	asked := &atomic.Int32{}
	source := tree.Clone(counting{scripted{listing, strings.Repeat("x", tree.MaxFile/4)}, asked}, strings.Repeat("12", 20))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { holdAll(t, source, paths) })
	}
	group.Wait()
	require.EqualValues(t, 40, asked.Load())
}

func TestWhoWaitsForAnothersReadingIsNotHeldUpByIt(t *testing.T) {
	t.Parallel()
	began, end := make(chan struct{}), make(chan struct{})
	listing, paths := listingOf(1, 1)
	source := tree.Clone(slow{scripted{listing, "x"}, began, end}, strings.Repeat("12", 20))
	var group sync.WaitGroup
	group.Go(func() { holdAll(t, source, paths) })
	<-began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := source.Hold(ctx, paths)
	require.ErrorIs(t, err, context.Canceled, "a search's ten seconds hold")
	close(end)
	group.Wait()
}

// slow reads blobs once it may.
type slow struct {
	scripted
	began, end chan struct{}
}

func (s slow) Blobs(ctx context.Context, hashes []string) ([][]byte, error) {
	close(s.began)
	<-s.end
	return s.scripted.Blobs(ctx, hashes)
}

func TestAFileThatIsHeldAsNoTextStaysNone(t *testing.T) {
	t.Parallel()
	r := newClone(t)
	source := tree.Clone(r, r.commit(map[string]string{"a": "a\n", "bin": "\x00hit", "empty": ""}))
	paths := []string{"a", "bin", "empty"}
	for range 2 {
		require.Equal(t, [][]byte{[]byte("a\n"), nil, {}}, holdAll(t, source, paths))
		read, err := source.ReadAll(t.Context(), paths)
		require.NoError(t, err)
		require.Equal(t, [][]byte{[]byte("a\n"), nil, {}}, read)
		_, err = source.Read(t.Context(), "bin")
		require.ErrorIs(t, err, tree.ErrNotText)
	}
}

func TestAClonesErrorsAreTold(t *testing.T) {
	t.Parallel()
	r := newClone(t)
	r.commit(small)
	for _, commit := range []string{"HEAD", "--help", "main:b", ""} {
		r.calls.Store(0)
		_, err := tree.Clone(r, commit).Read(t.Context(), "a.go")
		require.ErrorContains(t, err, "is not a commit's full hash")
		require.Zero(t, r.calls.Load())
	}
	_, err := tree.Clone(r, strings.Repeat("12", 20)).Paths(t.Context())
	require.ErrorContains(t, err, "listing the files of 1212")
	listing := "100644 blob aa 5\ta.go\x00100644 blob bb BAD\tb.go\x00120000 blob cc -\tlink\x00"
	for _, text := range []string{"", "abc", "abcdef"} {
		_, err = tree.Clone(scripted{listing, text}, strings.Repeat("12", 20)).Read(t.Context(), "a.go")
		require.ErrorContains(t, err, "git did not give file aa whole", text)
	}
	none := tree.Clone(scripted{listing, ""}, strings.Repeat("12", 20))
	_, err = none.Read(t.Context(), "b.go")
	require.ErrorContains(t, err, "partial")
	_, err = none.Read(t.Context(), "link")
	require.ErrorIs(t, err, tree.ErrLink, "a partial clone does not know where it leads")
}

// scripted is a repository with a listing, all files of which have one text.
type scripted struct{ listing, text string }

func (s scripted) Run(context.Context, ...string) ([]byte, error) { return []byte(s.listing), nil }

func (s scripted) Blobs(_ context.Context, hashes []string) ([][]byte, error) {
	return slices.Repeat([][]byte{[]byte(s.text)}, len(hashes)), nil
}
