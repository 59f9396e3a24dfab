package index_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/indextest"
	"github.com/org/pr-review-action/internal/testvolume"
	"github.com/org/pr-review-action/internal/tree"
)

// clone answers as git does of one commit, out of memory.
type clone struct {
	listing strings.Builder
	blobs   map[string]string
}

func (c *clone) add(path, text string) {
	id := fmt.Sprintf("%x", sha1.Sum([]byte(text)))
	c.blobs[id] = text
	c.entry("100644 blob", id, fmt.Sprint(len(text)), path)
}

func (c *clone) entry(kind, id, size, path string) {
	fmt.Fprintf(&c.listing, "%s %s %7s\t%s\x00", kind, id, size, path)
}

func (c *clone) tree() *tree.Tree {
	return tree.Clone(c, strings.Repeat("ab", 20))
}

// Run lists the files.
func (c *clone) Run(context.Context, ...string) ([]byte, error) {
	return []byte(c.listing.String()), nil
}

// Blobs returns their texts.
func (c *clone) Blobs(_ context.Context, hashes []string) ([][]byte, error) {
	all := make([][]byte, len(hashes))
	for i, hash := range hashes {
		text, ok := c.blobs[hash]
		if !ok {
			return nil, fmt.Errorf("%s was asked for", hash)
		}
		all[i] = []byte(text)
	}
	return all, nil
}

// An import may name what no path of the repository can be, and one more folder up than there is.
func TestImportsOfOddPathsEndTheirSearch(t *testing.T) {
	t.Parallel()
	x := indextest.Build(t, map[string]string{
		"run.sh": ". /etc/profile\nsource //\nsource ./lib.sh\n", "lib.sh": "f() { :; }\n",
		"a.js": "import x from '/abs/x'\nimport y from '../../../y'\n", "a.c": "#include </usr/include/x.h>\n",
		"a.rb": "require '/abs/x'\n", "a.php": "use \\Foo\\Bar;\nrequire '/abs/x.php';\n", "a.rs": "use ::std::io;\n",
		"a.py": "from ....up import x\nfrom . import y\n", "a.cs": "using .Odd.;\n", "A.java": "import .odd.;\n",
		"a.go": "package a\n\nimport \"/abs/x\"\n",
	})
	require.Equal(t, []string{"lib.sh"}, x.Linked("run.sh"))
	require.Empty(t, x.Linked("a.py"))
}

func TestImportsMeanFilesByTheEndOfTheirPaths(t *testing.T) {
	t.Parallel()
	x := indextest.Build(t, map[string]string{
		"main.go": "package main\n\nimport (\n\t\"encoding/json\"\n\t\"example.com/shop/lib/json\"\n" +
			"\t\"shop/h/i\"\n)\n",
		"h/i/i.go":      "package i\n",
		"lib/json/a.go": "package json\n", "lib/json/a_test.go": "package json\n", "json/b.go": "package json\n",
		"shop/a.py": "from .b import f\nfrom ..util import c\nimport os.path\n", "shop/b.py": "", "util/c.py": "",
		"src/com/acme/A.java": "import com.acme.B;\nimport static com.acme.C.sum;\n", "src/com/acme/B.java": "",
		"src/com/acme/C.java": "", "src/net/acme/B.java": "",
		"src/a.rs": "use crate::store::Disk;\n", "src/store/mod.rs": "", "a.c": "#include \"inc/a.h\"\n",
		"lib/inc/a.h": "", "a.php": "require __DIR__ . '/lib/d.php';\nuse Acme\\E;\n", "lib/d.php": "",
		"src/Acme/E.php": "", "a.rb": "require_relative './lib/f'\nrequire 'g'\n", "lib/f.rb": "", "h/g.rb": "",
		"a.ts": "import x from './ui'\nimport './ui/s.css'\n", "ui/index.ts": "", "ui/s.ts": "", "b/ui.ts": "",
	})
	for file, want := range map[string]string{
		"main.go": "h/i/i.go lib/json/a.go", "shop/a.py": "shop/b.py util/c.py", "a.c": "lib/inc/a.h",
		"a.ts":                "ui/index.ts",
		"src/com/acme/A.java": "src/com/acme/B.java src/com/acme/C.java", "src/a.rs": "src/store/mod.rs",
		"a.php": "lib/d.php src/Acme/E.php", "a.rb": "h/g.rb lib/f.rb", "json/b.go": "",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, strings.Join(x.Linked(file), " "))
		})
	}
}

// many is a commit of n files, of which the first few are of another one than before.
func many(n, changed int) *tree.Tree {
	c := clone{blobs: map[string]string{}}
	for i := range n {
		text := fmt.Sprintf("func F%d() {\n}\n", i)
		if i < changed {
			text = "func Other() {\n}\n"
		}
		c.add(fmt.Sprintf("p%d/f%d.go", i%300, i), text)
	}
	return c.tree()
}

func TestOfACommitOf100000FilesSoManyAreIndexedAsAreAllowed(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	whole := func(_ context.Context, path, text string) ([]chunk.Chunk, string) {
		name, _, _ := strings.Cut(text[len("func "):], "(")
		return []chunk.Chunk{{Path: path, StartLine: 1, EndLine: 2, Kind: chunk.Function, Name: name,
			Defines: []string{name}, Text: text}}, ""
	}
	o := index.Options{Cut: whole, Made: "whole"}
	some, r, err := index.Build(t.Context(), many(100_000, 0), nil, o)
	require.NoError(t, err)
	require.Equal(t, tree.MaxFiles, r.Files)
	require.Equal(t, map[string]int{index.SkippedMany: 50_000}, r.Skipped)
	o.MaxFiles = 100_000
	next, r, err := index.Build(t.Context(), many(100_000, 20), some, o)
	require.NoError(t, err)
	require.Equal(t, 100_000, r.Files)
	require.Less(t, 49_900, r.Reused)
	found, err := next.Defines(t.Context(), 0, "Other")
	require.NoError(t, err)
	require.Len(t, found["Other"], 20)
}

// What Git LFS and submodules keep elsewhere is not text of this commit, a link is not
// followed, and what is too large is not even read: git would fail for it here.
func TestWhatIsElsewhereOrTooLargeIsCountedAndNotRead(t *testing.T) {
	t.Parallel()
	c := clone{blobs: map[string]string{}}
	c.add("a.go", "package a\n\nfunc A() {\n}\n")
	c.add("line\nbreak.go", "package a\n\nfunc Broken() {\n}\n")
	c.add("invalid.go", "package a\n\nfunc Invalid\xff\xfe() {\n}\n")
	c.add("name\xff.go", "package a\n\nfunc Hidden() {\n}\n")
	c.add("model.py", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("ab", 32)+
		"\nsize 52428800\n")
	c.entry("100644 blob", strings.Repeat("cd", 20), "52428800", "huge.go")
	c.entry("100644 blob", strings.Repeat("ce", 20), "-", "partial.go")
	c.entry("160000 commit", strings.Repeat("ef", 20), "-", "sub.go")
	c.entry("120000 blob", strings.Repeat("ee", 20), "7", "loop.go")
	x, r, err := index.Build(t.Context(), c.tree(), nil, index.Options{Cut: indextest.Cut})
	require.NoError(t, err)
	paths := indextest.Paths(x)
	require.Equal(t, []string{"a.go", "invalid.go", "line\nbreak.go"}, paths)
	require.Equal(t, map[string]int{index.SkippedLFS: 1, tree.LeftLarge: 1, tree.LeftOther: 2, tree.LeftSubmodule: 1,
		tree.LeftLink: 1}, r.Skipped)
	stored, err := index.Decode(x.Encode())
	require.NoError(t, err)
	require.Equal(t, x.Encode(), stored.Encode())
}

// allocated returns the number of bytes that f allocates. No other test may run at the same time.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAFileOf50MBTakesNoMemory(t *testing.T) {
	const huge = 50 << 20
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a.go"), []byte("package a\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "huge.go"), nil, 0o600))
	require.NoError(t, os.Truncate(filepath.Join(folder, "huge.go"), huge))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for name, size := range map[string]int64{"r/huge.go": huge, "r/a.go": 10} {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600}))
		_, err := io.CopyN(w, strings.NewReader("package a\n"+strings.Repeat("x", huge)), size)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	for name, source := range map[string]*tree.Tree{
		"folder": tree.Folder(folder),
		"archive": tree.Archive(func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(packed.Bytes())), nil
		}),
	} {
		t.Run(name, func(t *testing.T) {
			var r index.Report
			var err error
			size := allocated(func() {
				_, r, err = index.Build(t.Context(), source, nil, index.Options{Cut: indextest.Cut})
			})
			require.NoError(t, err)
			require.Equal(t, 1, r.Files)
			require.Equal(t, map[string]int{tree.LeftLarge: 1}, r.Skipped)
			require.Less(t, size, uint64(4<<20))
		})
	}
}

func TestAFolderOfLoopsAndDeepFoldersIsIndexedOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"a.go", "line\nbreak.go", "not\xffutf8.go"} { // a disk may refuse the last one
		err := os.WriteFile(filepath.Join(root, name), []byte("package a\n"), 0o600)
		require.True(t, err == nil || name != "a.go", err)
	}
	for link, to := range map[string]string{"self.go": "self.go", "here": ".", "up": "..", "b": "c", "c": "b"} {
		require.NoError(t, os.Symlink(to, filepath.Join(root, link)))
	}
	deep := strings.Repeat("d/", 800)
	require.NoError(t, os.MkdirAll(filepath.Join(root, deep), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, deep, "z.go"), []byte("package z\n"), 0o600))
	x, r, err := index.Build(t.Context(), tree.Folder(root), nil, index.Options{Cut: indextest.Cut})
	require.NoError(t, err)
	paths := indextest.Paths(x)
	require.Equal(t, []string{"a.go", deep + "z.go", "line\nbreak.go"}, paths)
	require.Equal(t, 5, r.Skipped[tree.LeftLink])
	require.Equal(t, 0, r.Skipped[tree.LeftCredential])
}
