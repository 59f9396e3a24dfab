package tree_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/tree"
)

// small is what the trees of these tests hold.
var small = map[string]string{
	"a.go": "package a\n\nfunc Find() {}\n", "b/c.txt": "one\ntwo\n", "empty": "", "b/bin": "\x00\x01",
	".env": "A=b\n", "deploy/tls.pem": "x\n", ".github/workflows/ci.yml": "on: push\n",
}

// packed makes an archive as GitHub does: entries under one folder.
func archived(t testing.TB, files map[string]string, more ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	zw, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	require.NoError(t, err)
	tw := tar.NewWriter(zw)
	require.NoError(t, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header",
		PAXRecords: map[string]string{"comment": "c0ffee"}}))
	require.NoError(t, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "org-repo-c0ffee/"}))
	for _, path := range slices.Sorted(maps.Keys(files)) {
		require.NoError(t, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "org-repo-c0ffee/" + path,
			Size: int64(len(files[path])), Mode: 0o644}))
		_, err := io.WriteString(tw, files[path])
		require.NoError(t, err)
	}
	for _, h := range more {
		require.NoError(t, tw.WriteHeader(&h))
		_, err := io.CopyN(tw, zeros{}, h.Size)
		require.NoError(t, err)
	}
	require.NoError(t, tw.Close())
	require.NoError(t, zw.Close())
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func served(archive []byte) *tree.Tree {
	return tree.Archive(func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archive)), nil
	})
}

// trees are the same files from every source.
func trees(t *testing.T) map[string]*tree.Tree {
	all := map[string]*tree.Tree{"map": tree.Files(small), "archive": served(archived(t, small))}
	r := newClone(t)
	all["clone"] = tree.Clone(r, r.commit(small))
	return all
}

// whole is the text of every file of a tree that is read at once.
func whole(t *testing.T, source *tree.Tree) map[string]string {
	t.Helper()
	listing, err := source.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, listing.Missing)
	paths, err := source.Paths(t.Context())
	require.NoError(t, err)
	contents, err := source.Hold(t.Context(), paths)
	require.NoError(t, err)
	require.Len(t, contents, len(paths))
	texts := map[string]string{}
	for i, path := range paths {
		read, err := source.Read(t.Context(), path)
		if contents[i] == nil {
			require.ErrorIs(t, err, tree.ErrNotText, path)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, read, contents[i], path)
		texts[path] = string(read)
	}
	return texts
}

func TestEveryTreeHoldsTheSameFiles(t *testing.T) {
	t.Parallel()
	for name, source := range trees(t) {
		t.Run(name, func(t *testing.T) {
			content, err := source.Read(t.Context(), "b/c.txt")
			require.NoError(t, err)
			require.Equal(t, "one\ntwo\n", string(content))
			content, err = source.Read(t.Context(), "empty")
			require.NoError(t, err)
			require.Empty(t, content)
			paths, err := source.Paths(t.Context())
			require.NoError(t, err)
			// a clone has not looked into it
			paths = slices.DeleteFunc(paths, func(p string) bool { return p == "b/bin" })
			require.Equal(t, []string{".github/workflows/ci.yml", "a.go", "b/c.txt", "empty"}, paths)
			_, err = source.Read(t.Context(), "b/bin")
			require.ErrorIs(t, err, tree.ErrNotText)
			_, err = source.Read(t.Context(), "gone")
			require.ErrorIs(t, err, tree.ErrNoFile)
		})
	}
}

func TestATreeWithOtherFilesHoldsThemInPlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, source := range trees(t) {
		t.Run(name, func(t *testing.T) {
			with := source.With(map[string]string{"a.go": "package b\n", "new/d.go": "package d\n", "e/.env": "A=b\n"})
			want := map[string]string{}
			maps.Copy(want, whole(t, source))
			want["a.go"], want["new/d.go"] = "package b\n", "package d\n"
			require.Equal(t, want, whole(t, with))
			for _, paths := range [][]string{{"new/d.go", "b/c.txt", "a.go"}, {"a.go"}, nil} {
				texts, err := with.ReadAll(t.Context(), paths)
				require.NoError(t, err)
				require.Len(t, texts, len(paths))
				for i, path := range paths {
					require.Equal(t, want[path], string(texts[i]))
				}
			}
			_, err := with.Read(t.Context(), "e/.env")
			require.ErrorIs(t, err, tree.ErrRefused)
			content, err := source.Read(t.Context(), "a.go")
			require.NoError(t, err)
			require.Equal(t, small["a.go"], string(content), "the tree below stays as it is")
		})
	}
}

func TestD2_T8_NoTreeReadsOutsideOfItsCommitOrCredentials(t *testing.T) {
	t.Parallel()
	all := trees(t)
	for _, path := range []string{
		"", ".", "..", "../a.go", "b/../../a.go", "b/../a.go", "./a.go", "a.go/", "b//c.txt", "/etc/passwd",
		"/proc/self/environ", `..\a.go`, "C:/a.go",
		"a.go\x00", "a\xff", ".git/config", ".git", "sub/.git/HEAD", ".GIT/config", ".env", ".env.local", "app/.envrc",
		"prod.env", ".npmrc",
		".netrc", ".aws/credentials", ".ssh/config", "keys/id_rsa", "id_ed25519", "deploy/tls.pem", "server.KEY",
		"a.p12", "terraform.tfstate",
		".docker/config.json", "credentials.json", ".git-credentials",
	} {
		require.ErrorIs(t, tree.CheckPath(path), tree.ErrRefused, "%q", path)
		for name, source := range all {
			content, err := source.Read(t.Context(), path)
			require.ErrorIs(t, err, tree.ErrRefused, "%s %q", name, path)
			require.Empty(t, content)
		}
	}
	for _, path := range []string{"proc/self/environ", ".gitignore", ".github/dependabot.yml", "env.go",
		"internal/environment.ts", "key.go", "pem/x.go", "credentials/store.go", "bin/env"} {
		require.NoError(t, tree.CheckPath(path), path)
	}
}
