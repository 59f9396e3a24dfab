package tree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/tree"
)

// filled is a folder with what a person may have in one.
func filled(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	put("a.go", "package a\n")
	put("b/c.txt", "one\ntwo\n")
	put("b/bin", "\x00")
	put("big.txt", strings.Repeat("x", tree.MaxFile+1))
	put(".env", "SECRET=1\n")
	put(".git/config", "[core]\n")
	put("b/.git/HEAD", "ref\n")
	put("line\nbreak.go", "package b\n")
	outside := filepath.Join(t.TempDir(), "outside.go")
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "link.go")))
	require.NoError(t, os.Symlink(root, filepath.Join(root, "b", "loop")))
	return root
}

func TestAFolderIsItsFilesAndNothingBehindALink(t *testing.T) {
	t.Parallel()
	f := tree.Folder(filled(t))
	l, err := f.List(t.Context())
	require.NoError(t, err)
	var paths []string
	for _, file := range l.Files {
		paths = append(paths, file.Path)
	}
	require.Subset(t, paths, []string{"a.go", "b/c.txt"})
	require.NotContains(t, strings.Join(paths, " "), "link")
	require.NotContains(t, strings.Join(paths, " "), ".git")
	require.Equal(t, 2, l.Left[tree.LeftLink])
	require.Equal(t, 1, l.Left[tree.LeftLarge])
	require.Equal(t, 1, l.Left[tree.LeftBinary])
	require.GreaterOrEqual(t, l.Left[tree.LeftCredential], 1)
	for name, want := range map[string]error{"link.go": tree.ErrLink, "big.txt": tree.ErrTooLarge,
		"b/bin": tree.ErrNotText,
		"gone":  tree.ErrNoFile, "b/loop/a.go": tree.ErrNoFile, "b": tree.ErrNoFile, "../x": tree.ErrRefused,
		".env": tree.ErrRefused} {
		_, err := f.Read(t.Context(), name)
		require.ErrorIs(t, err, want, name)
	}
	_, err = tree.Folder("/nonexistent").List(t.Context())
	require.Error(t, err)
}

func TestEveryTreeListsTheSameHashes(t *testing.T) {
	t.Parallel()
	all := trees(t)
	root := t.TempDir()
	for path, text := range small {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
	}
	all["folder"] = tree.Folder(root)
	want, err := all["map"].List(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, want.Files)
	for name, source := range all {
		t.Run(name, func(t *testing.T) {
			l, err := source.List(t.Context())
			require.NoError(t, err)
			paths := []string{}
			for _, f := range want.Files {
				require.Contains(t, l.Files, f)
				paths = append(paths, f.Path)
			}
			contents, err := source.ReadAll(t.Context(), paths)
			require.NoError(t, err)
			for i, path := range paths {
				require.Equal(t, small[path], string(contents[i]))
			}
		})
	}
}
