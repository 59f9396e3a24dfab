package change_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/diff"
)

// TestTheUnifiedDiffAppliesWithGit holds Unified to what git makes of it: each text
// comes out byte for byte.
func TestTheUnifiedDiffAppliesWithGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := map[string]string{"a.go": "one\ntwo\nthree\n", "with blank/b.txt": "x\ny", "ü.txt": "1\r\n2\r\n"}
	files := []change.File{
		change.Of("a.go", "why", "b1", before["a.go"], "one\nTWO\nthree\nfour\n"),
		change.Of("with blank/b.txt", "", "b2", before["with blank/b.txt"], "x\ny\n"),
		change.Of("ü.txt", "", "b3", before["ü.txt"], "1\r\n3\r\n"),
		change.Of("new/c.txt", "", "", "", "no line feed"),
		change.Of("empty.txt", "", "", "", ""),
	}
	for path, text := range before {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.patch"), []byte(change.Unified(files)), 0o644))
	cmd := exec.CommandContext(t.Context(), "git", "apply", "p.patch")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(dir, f.Path))
		require.NoError(t, err)
		require.Equal(t, f.Content, string(got), f.Path)
	}
	require.Equal(t, 8, change.Lines(files))
	require.Equal(t, []diff.Status{diff.Modified, diff.Added, diff.Added, diff.Modified, diff.Modified},
		[]diff.Status{change.Diffs(files)[0].Status, change.Diffs(files)[1].Status, change.Diffs(files)[2].Status,
			change.Diffs(files)[3].Status, change.Diffs(files)[4].Status})
}

func TestTheDigestTellsEveryPartApart(t *testing.T) {
	t.Parallel()
	a := change.File{Path: "a", Base: "1", Content: "x"}
	seen := map[string]bool{}
	for _, files := range [][]change.File{{}, {a}, {a, a}, {{Path: "a", Content: "x"}},
		{{Path: "b", Base: "1", Content: "x"}}, {{Path: "a", Base: "1", Content: "y"}}} {
		seen[change.Digest(files)] = true
	}
	require.Len(t, seen, 6)
}
