package filestore

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

const thread = "org/payments#42@docs:1a2b3c4"

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := New(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func load(t *testing.T, s *Store) (snapshot string, journal []string) {
	t.Helper()
	saved, err := s.Load(t.Context(), thread)
	require.NoError(t, err)
	for _, r := range saved.Journal {
		journal = append(journal, string(r))
	}
	return string(saved.Snapshot), journal
}

func TestAnotherProcessFindsWhatWasSaved(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := open(t, dir)
	_, err := s.Load(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrNoThread)
	require.ErrorIs(t, s.Append(t.Context(), thread, []byte("x")), graph.ErrNoThread)
	require.NoDirExists(t, dir, "reading makes no folder")

	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	require.NoError(t, s.Append(t.Context(), thread, []byte("r1")))
	require.NoError(t, s.Append(t.Context(), thread, []byte("r2\n")))
	snapshot, journal := load(t, open(t, dir))
	require.Equal(t, "one", snapshot)
	require.Equal(t, []string{"r1", "r2\n"}, journal)

	other := open(t, dir)
	require.NoError(t, other.Append(t.Context(), thread, []byte("r3")))
	_, journal = load(t, other)
	require.Equal(t, []string{"r1", "r2\n", "r3"}, journal)

	require.NoError(t, other.Save(t.Context(), thread, []byte("two")))
	snapshot, journal = load(t, open(t, dir))
	require.Equal(t, "two", snapshot)
	require.Empty(t, journal)
}

func TestThreadsAreListedAndKeptApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	ids, err := open(t, filepath.Join(dir, "none")).Threads(t.Context())
	require.NoError(t, err)
	require.Empty(t, ids)
	want := []string{"../../etc", "o/r#1:a", "o/r-1:a", "x" + strings.Repeat("y", 500)}
	for _, id := range want {
		require.NoError(t, s.Save(t.Context(), id, []byte(id)))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "lost+found"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stray"), nil, 0o600))
	ids, err = s.Threads(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, ids)
	for _, id := range want {
		saved, err := s.Load(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, id, string(saved.Snapshot))
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, len(want)+2, "nothing outside the store's own folder")
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits for owner, group and others")
	}
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	require.NoError(t, s.Append(t.Context(), thread, []byte("r1")))
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, path)
		return nil
	}))
}

func TestP12_AStoreThatCannotBeUsedSaysWhichAndWhy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	_, err := New(plain)
	require.ErrorContains(t, err, plain+": it is a file, not a folder")
	_, err = New("")
	require.Error(t, err)
	_, err = New(filepath.Join(plain, "below"))
	if err == nil { // platforms differ in when they say it
		err = open(t, filepath.Join(plain, "below")).Save(t.Context(), thread, nil)
	}
	require.ErrorContains(t, err, "plain")

	s := open(t, filepath.Join(dir, "store"))
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	snapshot := filepath.Join(s.folder(thread), snapshotFile)
	require.NoError(t, os.Remove(snapshot))
	require.NoError(t, os.Mkdir(snapshot, 0o700))
	_, err = s.Load(t.Context(), thread)
	require.ErrorContains(t, err, snapshot)
	require.NotErrorIs(t, err, graph.ErrNoThread)

	require.NoError(t, os.WriteFile(filepath.Join(s.folder(thread), threadFile), []byte("other"), 0o600))
	require.ErrorContains(t, s.Save(t.Context(), thread, nil), `belongs to thread "other"`)
	_, err = s.Load(t.Context(), thread)
	require.ErrorContains(t, err, `belongs to thread "other"`)
	require.ErrorContains(t, err, "next    remove that folder")
}

func TestAReadOnlyFolderCanBeReadAndSaysSoWhenWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	require.NoError(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		_ = f.Close()
		t.Skip("root may write everywhere; .ci/run runs this test as another user too")
	}
	snapshot, _ := load(t, s)
	require.Equal(t, "one", snapshot)
	err := s.Save(t.Context(), "another", []byte("one"))
	require.ErrorIs(t, err, fs.ErrPermission)
	require.ErrorContains(t, err, dir)
}

func TestACancelledContextWritesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Save(ctx, thread, nil), context.Canceled)
	require.ErrorIs(t, s.Append(ctx, thread, []byte("r")), context.Canceled)
	_, err := s.Load(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrNoThread)
}

func TestDefaultIsTheUsersStateFolder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	env := map[string]string{"HOME": root, "LocalAppData": root}
	getenv := func(name string) string { return env[name] }
	dir, err := Default(getenv)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(dir, root) && filepath.Base(dir) == "pr-review", dir)

	env["XDG_STATE_HOME"] = "relative" // the specification says to ignore it
	ignored, err := Default(getenv)
	require.NoError(t, err)
	require.Equal(t, dir, ignored)
	env["XDG_STATE_HOME"] = filepath.Join(root, "state")
	dir, err = Default(getenv)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, "state", "pr-review"), dir)
	env["PR_REVIEW_STORE"] = "postgres://127.0.0.1/reviews" // any kind of store's, so read where these are told apart
	dir, err = Default(getenv)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, "state", "pr-review"), dir)

	_, err = Default(func(string) string { return "" })
	require.ErrorContains(t, err, "--store DIR")
}

func TestARemovedThreadIsGone(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	require.NoError(t, s.Remove(t.Context(), thread), "one that is not there is no error")
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	require.NoError(t, s.Append(t.Context(), thread, []byte("r1")))
	require.NoError(t, s.Remove(t.Context(), thread))
	_, err := s.Load(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrNoThread)
	require.NoDirExists(t, s.folder(thread))
}

func TestG21_WhatACrashLeftBesideTheSnapshotIsNotKept(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	left := filepath.Join(s.folder(thread), snapshotFile+".new")
	require.NoError(t, os.WriteFile(left, []byte("a longer snapshot, cut o"), 0o600))
	require.NoError(t, s.Save(t.Context(), thread, []byte("two")))
	snapshot, _ := load(t, s)
	require.Equal(t, "two", snapshot)
	require.NoFileExists(t, left)
}
