package tree_test

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/tree"
)

func FuzzArchive(f *testing.F) {
	f.Add(archived(f, small))
	f.Add(archived(f, nil, tar.Header{Typeflag: tar.TypeSymlink, Name: top + "link", Linkname: "/etc/passwd"},
		tar.Header{Typeflag: tar.TypeReg, Name: top + "../x", Size: 3}))
	f.Add([]byte("\x1f\x8b"))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, archive []byte) {
		checkTree(t, served(archive))
	})
}

func FuzzClone(f *testing.F) {
	f.Add([]byte("100644 blob aa       3\ta.go\x00120000 blob bb 4\tlink\x00160000 commit cc -\tsub\x00100644 blob "+
		"dd BAD\tx\x00"), []byte("abc"))
	f.Add([]byte("100644 blob aa 3\t../a\x00"), []byte("abcd"))
	f.Add([]byte(nil), []byte(nil))
	f.Fuzz(func(t *testing.T, listing, text []byte) {
		checkTree(t, tree.Clone(scripted{string(listing), string(text)}, strings.Repeat("12", 20)))
	})
}

// checkTree holds a tree of any bytes to what trees promise.
func checkTree(t *testing.T, source *tree.Tree) {
	t.Helper()
	paths, err := source.Paths(t.Context())
	if err != nil {
		require.Empty(t, paths)
		return
	}
	for i, path := range paths {
		require.NoError(t, tree.CheckPath(path))
		require.True(t, i == 0 || paths[i-1] < path)
		content, err := source.Read(t.Context(), path)
		require.True(t, err != nil || len(content) <= tree.MaxFile &&
			bytes.IndexByte(content[:min(len(content), 8000)], 0) < 0)
	}
	_, err = source.Read(t.Context(), ".env")
	require.ErrorIs(t, err, tree.ErrRefused)
}
