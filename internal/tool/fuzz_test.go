package tool_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
)

func FuzzArguments(f *testing.F) {
	for _, name := range []string{"read_file", "search_code", "find_references", "run_shell"} {
		for _, arguments := range []string{
			`{"path":"a.go","side":"head","start_line":1,"end_line":9}`, `{"path":"/proc/self/environ"}`,
			`{"path":".env"}`, `{"query":"a","path":"**/*.{go,ts}"}`,
			`{"query":"(a|b)*$","regex":true}`, `{"name":"Find"}`, `{"name":"a","name":"b"}`, `{"path":null,"x":1}`,
			"{}x", "[", "", "\xff", `{"start_line":-9223372036854775808,"path":"a.go","end_line":9223372036854775807}`,
		} {
			f.Add(name, arguments)
		}
	}
	files := tree.Files(map[string]string{"a.go": "package a\n\nfunc Find() {}\n", ".env": "never shown",
		"b/c.txt": counted(2000), "bidi": "\u202e\u200b\x1b[2J\n"})
	set := tool.NewSet(tool.ReadFile(files, nil), tool.SearchCode(files, nil), tool.FindReferences(files))
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
