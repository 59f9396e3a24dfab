package linter_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/linter"
)

var update = flag.Bool("update", false, "write the golden file")

// credential stands for what gitleaks found. It is put together here, so that it is in
// no file.
var credential = "sk_live_" + "51Hx9c2eZvKYlo2CqT7mWw8RkXb0NnQd"

// changed are the files of testdata/changed, as a change adds them.
func changed(t testing.TB) (files []diff.File) {
	t.Helper()
	dir := os.DirFS("testdata/changed")
	err := fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(dir, path)
		files = append(files, added(strings.TrimSuffix(path, ".txt"), inserted(text)))
		return err
	})
	require.NoError(t, err)
	return files
}

func inserted(text []byte) string { return strings.ReplaceAll(string(text), "CREDENTIAL", credential) }

func added(path, text string) diff.File {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return diff.File{Path: path, Status: diff.Added, Additions: len(lines),
		Patch: fmt.Sprintf("@@ -0,0 +1,%d @@\n+%s\n", len(lines), strings.Join(lines, "\n+"))}
}

// TestToolsAreRead reads what tools write. staticcheck, eslint and gitleaks wrote theirs
// (0.6.1, 8.57.1, 8.24.3; rules without a result left out), the others follow the
// formats' descriptions.
func TestToolsAreRead(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.*")
	require.NoError(t, err)
	var out strings.Builder
	for _, name := range names {
		if filepath.Ext(name) == ".golden" {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		r := linter.NewReader(changed(t), "in "+filepath.Base(name))
		require.NoError(t, r.Read(filepath.Base(name), []byte(inserted(text))))
		fmt.Fprintf(&out, "%s %+v\n", filepath.Base(name), r.Left)
		for _, f := range r.Findings {
			require.Equal(t, finding.Linter, f.Source)
			require.NotContains(t, f.Title+f.Body, credential)
			fmt.Fprintf(&out, "  %s:%d %s %s %s: %s | %q %s\n", f.Path, f.Line, f.Severity, f.Origin.Tool, f.Rule,
				f.Title,
				f.Body, f.Origin.Help)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/tools.golden", []byte(out.String()), 0o600))
	}
	want, err := os.ReadFile("testdata/tools.golden")
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}
