package oracle

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/llm"
)

func TestALineWasSeenByItsNumberItsTextAndItsPath(t *testing.T) {
	t.Parallel()
	line := []Line{{Path: "b/limits.go", Number: 12, Text: "\tconst most = 3"}}
	result := func(arguments, text string) llm.Request {
		return llm.Request{User: "the diff", Turns: []llm.Turn{
			{Role: llm.RoleAssistant, ToolCalls: []llm.Call{{ID: "1", Name: "read_file", Arguments: arguments}}},
			{Role: llm.RoleTool, CallID: "1", Text: text},
		}}
	}
	for name, c := range map[string]struct {
		q    llm.Request
		want bool
	}{
		"in the prompt": {llm.Request{User: "b/limits.go\n    12 \tconst most = 3\n"}, true},
		"found":         {result("{}", "1 hit\nb/limits.go:12: const most = 3\n"), true},
		"read":          {result(`{"path":"b/limits.go"}`, "    12 \tconst most = 3\n"), true},
		"another line":  {result("{}", "b/limits.go:112: const most = 3\n"), false},
		"another file":  {result(`{"path":"b/other.go"}`, "    12 \tconst most = 3\n"), false},
		"another text":  {result("{}", "b/limits.go:12: const least = 3\n"), false},
		"said by itself": {llm.Request{Turns: []llm.Turn{
			{Role: llm.RoleAssistant, Text: "b/limits.go 12 const most = 3"}}}, false},
		"number on other line": {result("{}", "b/limits.go:12:\nconst most = 3\n"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, Saw(c.q, line))
		})
	}
	require.True(t, Saw(llm.Request{}, nil), "the diff decides it")
	require.True(t, Saw(llm.Request{}, []Line{{Path: "a", Number: 1, Text: "  "}}), "an empty line decides nothing")
	two := append(line, Line{Path: "b/limits.go", Number: 13, Text: "x()"})
	require.False(t, Saw(llm.Request{User: "b/limits.go\n 12 const most = 3\n"}, two), "all of them")
}

func TestLookingGoesForNamesThenForTheirFiles(t *testing.T) {
	t.Parallel()
	f := diff.File{Path: "a.go", Patch: "@@ -1,2 +1,2 @@ func Around() {\n-func Make(old int) {}\n" +
		"+func Make(limit int) { load(\"mail.sender\") }\n x"}
	q := llm.Request{User: "u", Tools: []llm.Tool{{Name: "search_code"}}}
	first := Look(q, f)
	require.Equal(t, llm.Call{ID: "find_references-1", Name: "find_references", Arguments: `{"name":"Around"}`},
		first[0])
	require.Equal(t, `{"name":"sender"}`, first[1].Arguments)
	require.Len(t, first, maxCalls, "each name once, the longest first")

	q.Turns = []llm.Turn{{Role: llm.RoleAssistant, ToolCalls: first},
		{Role: llm.RoleTool, Text: "2 uses in 2 files\na.go:1: func Make\nb/c.go:40: Make(3)\nb/c.go:50: Make(4)\n"}}
	second := Look(q, f)
	require.Equal(t, []llm.Call{{ID: "read_file-1", Name: "read_file",
		Arguments: `{"end_line":65,"path":"b/c.go","side":"head","start_line":25}`}}, second)

	asked := q
	asked.Turns = append(asked.Turns, llm.Turn{Role: llm.RoleUser, Text: "answer now"})
	require.Empty(t, Look(asked, f), "it was asked for its answer")
	q.Turns = append(q.Turns, llm.Turn{Role: llm.RoleAssistant, ToolCalls: second}, llm.Turn{Role: llm.RoleTool})
	require.Empty(t, Look(q, f), "it has looked twice")
	require.Empty(t, Look(llm.Request{}, f), "it has no tools")
}
