package tool_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/tool"
)

func FuzzArguments(f *testing.F) {
	for _, name := range []string{"read_file", "search_code", "find_references", "run_shell"} {
		for _, arguments := range []string{
			`{"path":"a.go","side":"head","start_line":1,"end_line":9}`, `{"path":"/proc/self/environ"}`, `{"path":".env"}`, `{"query":"a","path":"**/*.{go,ts}"}`,
			`{"query":"(a|b)*$","regex":true}`, `{"name":"Find"}`, `{"name":"a","name":"b"}`, `{"path":null,"x":1}`, "{}x", "[", "", "\xff", `{"start_line":-9223372036854775808,"path":"a.go","end_line":9223372036854775807}`,
		} {
			f.Add(name, arguments)
		}
	}
	tree := tool.Files(map[string]string{"a.go": small["a.go"], ".env": "never shown", "b/c.txt": counted(2000), "bidi": "\u202e\u200b\x1b[2J\n"})
	set := tool.NewSet(tool.ReadFile(tree, nil), tool.SearchCode(tree), tool.FindReferences(tree))
	f.Fuzz(func(t *testing.T, name, arguments string) {
		r := set.Call(t.Context(), llm.Call{Name: name, Arguments: arguments})
		require.True(t, (r.Text == "") != (r.Problem == ""), "%+v", r)
		require.LessOrEqual(t, len(r.Text), tool.DefaultBytes)
		require.NotContains(t, r.Name+r.Arguments+r.Problem, "\n")
		all := r.Name + r.Arguments + r.Problem + r.Text
		require.True(t, utf8.ValidString(all))
		require.False(t, strings.ContainsAny(all, "\x1b\u202e\u200b\x00"))
		require.NotContains(t, r.Text, "never shown")
	})
}

func FuzzArchive(f *testing.F) {
	f.Add(archived(f, small))
	f.Add(archived(f, nil, tar.Header{Typeflag: tar.TypeSymlink, Name: top + "link", Linkname: "/etc/passwd"}, tar.Header{Typeflag: tar.TypeReg, Name: top + "../x", Size: 3}))
	f.Add([]byte("\x1f\x8b"))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, archive []byte) {
		checkTree(t, served(archive))
	})
}

func FuzzClone(f *testing.F) {
	f.Add([]byte("100644 blob aa       3\ta.go\x00120000 blob bb 4\tlink\x00160000 commit cc -\tsub\x00100644 blob dd BAD\tx\x00"), []byte("aa blob 3\nabc\n"))
	f.Add([]byte("100644 blob aa 3\t../a\x00"), []byte("aa missing\n"))
	f.Add([]byte(nil), []byte(nil))
	f.Fuzz(func(t *testing.T, listing, batch []byte) {
		checkTree(t, tool.Clone(func(_ context.Context, _ io.Reader, args ...string) ([]byte, error) {
			if args[0] == "ls-tree" {
				return listing, nil
			}
			return batch, nil
		}, strings.Repeat("12", 20)))
	})
}

// checkTree holds a tree of any bytes to what trees promise.
func checkTree(t *testing.T, tree tool.Tree) {
	t.Helper()
	paths, err := tree.Paths(t.Context())
	if err != nil {
		require.Empty(t, paths)
		return
	}
	for i, path := range paths {
		require.NoError(t, tool.CheckPath(path))
		require.True(t, i == 0 || paths[i-1] < path)
		content, err := tree.Read(t.Context(), path)
		require.True(t, err != nil || len(content) <= tool.MaxFile && bytes.IndexByte(content[:min(len(content), 8000)], 0) < 0)
	}
	_, err = tree.Read(t.Context(), ".env")
	require.ErrorIs(t, err, tool.ErrRefused)
}
