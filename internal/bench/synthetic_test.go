package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/testvolume"
)

func TestTheDiffIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.diff")
	size, err := writeDiff(path, 20)
	require.NoError(t, err)
	text, err := os.Open(path)
	require.NoError(t, err)
	defer text.Close()
	files, err := diff.Parse(text, size)
	require.NoError(t, err)
	require.Len(t, files, 20)
	for i, f := range files {
		name, patch := newSyntheticPatch(i)
		require.Equal(t, name, f.Path)
		require.Equal(t, patch, f.Patch)
	}
}

func TestAWatchedProcessTellsItsPeak(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("peaks of memory are read on Linux alone: elsewhere rusage has another unit or none, and the limits " +
			"have no figure")
	}
	s, _ := tiny(t)
	s.log = io.Discard
	large := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.WriteFile(large, make([]byte, 48<<20), 0o600))
	got, err := s.watchProcess(t.Context(), s.program, "hold", large)
	require.NoError(t, err)
	require.Positive(t, got[0])
	require.Greater(t, got[1], 48.0, "MiB")
	require.Less(t, got[1], 96.0, "MiB")
	_, err = s.watchProcess(t.Context(), s.program, "hold", large+".none")
	require.ErrorContains(t, err, "no such file")
}
