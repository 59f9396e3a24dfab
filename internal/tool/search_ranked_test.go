package tool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
)

// engine ranks files that are cut at blank lines.
func engine(t *testing.T, files map[string]string) tool.Open {
	t.Helper()
	cut := func(_ context.Context, path, text string) (all []chunk.Chunk, _ string) {
		line := 1
		for i, part := range strings.Split(text, "\n\n") {
			n := strings.Count(strings.TrimSuffix(part, "\n"), "\n")
			all = append(all, chunk.Chunk{Path: path, StartLine: line, EndLine: line + n, Kind: chunk.Function,
				Name: fmt.Sprint("f", i), Signature: "func f" + fmt.Sprint(i), Text: part, Language: "go"})
			line += n + 2
		}
		return all, ""
	}
	x, _, err := index.Build(t.Context(), tree.Files(files), nil, index.Options{Cut: cut, Made: "test"})
	require.NoError(t, err)
	return func(context.Context) (*retrieve.Engine, error) { return &retrieve.Engine{Index: x.Source}, nil }
}

func TestWordsAreAnsweredByRankAndTextAsItStands(t *testing.T) {
	files := map[string]string{
		"a/retry.go": "// tries again until the bound of attempts is met\nfor n := 0; n < bound; n++ {\n\tsend()\n}\n",
		"b/other.go": "// prints a table of prices\nprint(table)\n",
	}
	search := tool.SearchCode(tree.Files(files), engine(t, files))
	for name, c := range map[string]struct{ arguments, want, not string }{
		"words": {`{"query":"where is the limit of attempts"}`,
			"these words:\na/retry.go:1-4: func f0\n     1 // tries again until the bound of attempts is met\n     2 for n := " +
				"0; n < bound; n++ {\n     3 \tsend()\n     4 }\n", "no hits"},
		"words in place": {`{"query":"the limit of attempts","path":"b"}`, "no hits", "a/retry.go"},
		"as it stands": {`{"query":"table of prices"}`, "1 hit in 1 file\nb/other.go:1: // prints a table of prices",
			"by rank"},
		"a sentence as it stands": {`{"query":"tries again until the bound"}`, "files searched\n\n1 piece by rank, which",
			"no hits"},
		"one word":               {`{"query":"attempts"}`, "1 hit in 1 file\na/retry.go:1:", "by rank"},
		"signs that no line has": {`{"query":"limit of attempts & bound"}`, "1 piece by rank, which", "no hits"},
		"code":                   {`{"query":"n < bound"}`, "a/retry.go:2: for n := 0", "by rank"},
		"expression":             {`{"query":"limit of|attempts","regex":true}`, "a/retry.go:1:", "by rank"},
	} {
		t.Run(name, func(t *testing.T) {
			got := call(t, search, c.arguments)
			require.Empty(t, got.Problem)
			require.Contains(t, got.Text, c.want)
			if c.not != "" {
				require.NotContains(t, got.Text, c.not)
			}
		})
	}
}

func TestTheBestPiecesAreShownWithMoreLinesThanTheRest(t *testing.T) {
	half := strings.Repeat("pass()\n", 50)
	files := map[string]string{"long.go": half + "// the bound of all attempts, a limit\n" + half}
	for i := range 5 {
		files[fmt.Sprintf("d%d/f.go", i)] = half[:20*7] + "// attempts " + strings.Repeat("and more ", i) + "\npass()\n"
	}
	got := call(t, tool.SearchCode(tree.Files(files), engine(t, files)), `{"query":"what is the limit of attempts"}`).Text
	require.True(t, strings.HasPrefix(got, "6 pieces by rank, which need not have just these words:\n"+
		"long.go:1-101: func f0\n    45 pass()\n"), got)
	require.Contains(t, got, "\n    51 // the bound of all attempts, a limit\n")
	require.Contains(t, got, "\n    74 pass()\nd0/f.go:1-22: func f0\n     1 pass()\n", "a short piece is shown whole")
	require.Contains(t, got, "\n    22 pass()\nd1/f.go:")
	require.True(t, strings.HasSuffix(got, "and more \nd4/f.go:1-22: func f0\n    21 // attempts "+
		strings.Repeat("and more ", 4)+"\n"), got)
}

// T5: what is ranked is redacted and bounded like what is found as text.
func TestT5_RankedPiecesAreRedactedAndWithinTwelveKilobytes(t *testing.T) {
	key := "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("d%d/f.go", i)] = "// the secret limit of attempts is " + key + "\n" +
			strings.Repeat("// attempts "+strings.Repeat("x", 350)+"\n", 40)
	}
	got := call(t, tool.SearchCode(tree.Files(files), engine(t, files)),
		`{"query":"what is the limit of attempts"}`).Text
	require.Contains(t, got, "10 pieces by rank")
	require.Equal(t, 10, strings.Count(got, "/f.go:1-41"))
	require.NotContains(t, got, key)
	require.LessOrEqual(t, len(got), 12<<10)
}

func TestWithoutAnIndexWordsAreLookedForAsText(t *testing.T) {
	files := tree.Files(map[string]string{"a.go": "// limit of attempts\n"})
	down := func(context.Context) (*retrieve.Engine, error) { return nil, errors.New("no index") }
	for _, open := range []tool.Open{nil, down} {
		require.Contains(t, call(t, tool.SearchCode(files, open), `{"query":"limit of attempts"}`).Text,
			"a.go:1: // limit of attempts")
	}
}
