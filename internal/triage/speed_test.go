package triage_test

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/triage"
)

// BenchmarkInspect reads 400 added files of Go's own library, on one processor with
// -cpu 1.
func BenchmarkInspect(b *testing.B) {
	files, size := library(b, 400)
	b.SetBytes(size)
	for b.Loop() {
		triage.Inspect(files, nil, triage.Options{})
	}
}

// library is the first files of Go's library of 8 to 256 KB as a change that adds them.
func library(t testing.TB, n int) (files []diff.File, size int64) {
	root := filepath.Join(build.Default.GOROOT, "src")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || len(files) == n || filepath.Ext(path) != ".go" || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || len(text) < 8<<10 || len(text) > 256<<10 {
			return err
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		patch := "@@ -0,0 +1," + strconv.Itoa(len(lines)) + " @@\n+" + strings.Join(lines, "\n+")
		files = append(files, diff.File{Path: filepath.ToSlash(path[len(root)+1:]), Status: diff.Added, Patch: patch})
		size += int64(len(patch))
		return nil
	}))
	return files, size
}
