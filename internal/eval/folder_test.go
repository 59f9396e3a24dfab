package eval_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval"
)

func TestDamagedResultsAreToldByTheirLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := eval.Run(t.Context(), options(t, dir, scripted()))
	require.NoError(t, err)
	path := filepath.Join(dir, "results.jsonl")
	whole := read(t, dir, "results.jsonl")
	for what, text := range map[string]string{
		"a line without a case": strings.Replace(whole, "\n", "\n{}\n", 1),
		"a line cut off":        whole[:strings.Index(whole, "\n")+20],
		"an unknown key":        strings.Replace(whole, "\n{", "\n{\"more\":1,", 1),
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := eval.ReadRun(dir)
		require.ErrorContains(t, err, "results.jsonl:2: ", what)
	}
}
