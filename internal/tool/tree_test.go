package tool_test

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

	"github.com/org/pr-review-action/internal/tool"
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
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	require.NoError(t, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": "c0ffee"}}))
	require.NoError(t, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "org-repo-c0ffee/"}))
	for _, path := range slices.Sorted(maps.Keys(files)) {
		require.NoError(t, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "org-repo-c0ffee/" + path, Size: int64(len(files[path])), Mode: 0o644}))
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

func served(archive []byte) tool.Tree {
	return tool.Archive(func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil })
}

// trees are the same files from every source.
func trees(t *testing.T) map[string]tool.Tree {
	all := map[string]tool.Tree{"map": tool.Files(small), "archive": served(archived(t, small))}
	r := newClone(t)
	all["clone"] = tool.Clone(r.run, r.commit(small))
	return all
}

func TestEveryTreeHoldsTheSameFiles(t *testing.T) {
	t.Parallel()
	for name, tree := range trees(t) {
		content, err := tree.Read(t.Context(), "b/c.txt")
		require.NoError(t, err, name)
		require.Equal(t, "one\ntwo\n", string(content), name)
		content, err = tree.Read(t.Context(), "empty")
		require.NoError(t, err, name)
		require.Empty(t, content, name)
		paths, err := tree.Paths(t.Context())
		require.NoError(t, err, name)
		paths = slices.DeleteFunc(paths, func(p string) bool { return p == "b/bin" }) // a clone has not looked into it
		require.Equal(t, []string{".github/workflows/ci.yml", "a.go", "b/c.txt", "empty"}, paths, name)
		_, err = tree.Read(t.Context(), "b/bin")
		require.ErrorIs(t, err, tool.ErrNotText, name)
		_, err = tree.Read(t.Context(), "gone")
		require.ErrorIs(t, err, tool.ErrNoFile, name)
	}
}

func TestD2_T8_NoTreeReadsOutsideOfItsCommitOrCredentials(t *testing.T) {
	t.Parallel()
	all := trees(t)
	for _, path := range []string{
		"", ".", "..", "../a.go", "b/../../a.go", "b/../a.go", "./a.go", "a.go/", "b//c.txt", "/etc/passwd", "/proc/self/environ", `..\a.go`, "C:/a.go",
		"a.go\x00", "a\xff", ".git/config", ".git", "sub/.git/HEAD", ".GIT/config", ".env", ".env.local", "app/.envrc", "prod.env", ".npmrc",
		".netrc", ".aws/credentials", ".ssh/config", "keys/id_rsa", "id_ed25519", "deploy/tls.pem", "server.KEY", "a.p12", "terraform.tfstate",
		".docker/config.json", "credentials.json", ".git-credentials",
	} {
		require.ErrorIs(t, tool.CheckPath(path), tool.ErrRefused, "%q", path)
		for name, tree := range all {
			content, err := tree.Read(t.Context(), path)
			require.ErrorIs(t, err, tool.ErrRefused, "%s %q", name, path)
			require.Empty(t, content)
		}
	}
	for _, path := range []string{"proc/self/environ", ".gitignore", ".github/dependabot.yml", "env.go", "internal/environment.ts", "key.go", "pem/x.go", "credentials/store.go", "bin/env"} {
		require.NoError(t, tool.CheckPath(path), path)
	}
}
