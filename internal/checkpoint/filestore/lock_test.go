package filestore

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/storetest"
)

// childVar names the store's folder to a test binary that is to be a child.
const childVar = "PR_REVIEW_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVar); dir != "" {
		fmt.Println(child(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// child locks the thread and appends until it is killed. It says of each record
// that it was acknowledged.
func child(dir string) error {
	ctx := context.Background()
	s, err := New(dir)
	if err != nil {
		return err
	}
	if _, err := s.Lock(ctx, thread); err != nil {
		return err
	}
	if err := s.Save(ctx, thread, []byte("one")); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if err := s.Append(ctx, thread, []byte(strconv.Itoa(n))); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func TestG25_ALockAndAJournalLeftByADeadProcessAreRecovered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	process := exec.CommandContext(t.Context(), os.Args[0])
	process.Env = append(os.Environ(), childVar+"="+dir)
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	acknowledged, said := 0, bufio.NewScanner(out)
	for acknowledged < 20 && said.Scan() {
		n, err := strconv.Atoi(said.Text())
		require.NoError(t, err, said.Text())
		acknowledged = n + 1
	}
	require.Equal(t, 20, acknowledged)

	s := open(t, dir)
	_, err = s.Lock(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrBusy)
	host, hostErr := os.Hostname()
	require.NoError(t, hostErr)
	require.ErrorContains(t, err, fmt.Sprintf("by process %d on %s, since 2", process.Process.Pid, host))
	require.NoError(t, process.Process.Kill())
	for said.Scan() {
		if n, err := strconv.Atoi(said.Text()); err == nil { // the last line may be torn
			acknowledged = max(acknowledged, n+1)
		}
	}
	require.Error(t, process.Wait())

	release, err := s.Lock(t.Context(), thread)
	require.NoError(t, err)
	_, journal := load(t, s)
	require.GreaterOrEqual(t, len(journal), 20)
	for n, r := range journal {
		require.Equal(t, strconv.Itoa(n), r)
	}
	require.NoError(t, s.Append(t.Context(), thread, []byte("next")))
	require.NoError(t, release())
	_, journal = load(t, open(t, dir))
	require.Equal(t, "next", journal[len(journal)-1])
	require.GreaterOrEqual(t, len(journal), 21)
}

func TestG25_ALockLeavesNothingThatIsListed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "store")
	s := open(t, dir)
	s.now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	release, err := s.Lock(t.Context(), thread)
	require.NoError(t, err)
	_, err = open(t, dir).Lock(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrBusy)
	require.ErrorContains(t, err, fmt.Sprintf("process %d on ", os.Getpid()))
	require.ErrorContains(t, err, ", since 2026-01-02T03:04:05Z (lock "+filepath.Join(dir, "locks"))
	require.NoError(t, release())

	another, err := open(t, dir).Lock(t.Context(), thread)
	require.NoError(t, err)
	require.NoError(t, release(), "a second release is none")
	_, err = s.Lock(t.Context(), thread)
	require.ErrorContains(t, err, fmt.Sprintf("process %d on ", os.Getpid()), "and takes nothing from the next holder")
	require.NoError(t, another())
	ids, err := s.Threads(t.Context())
	require.NoError(t, err)
	require.Empty(t, ids)
	entries, err := os.ReadDir(filepath.Join(dir, "locks"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	info, err := entries[0].Info()
	require.NoError(t, err)
	require.Zero(t, info.Size())
	require.Zero(t, info.Mode().Perm()&0o077)
}

func TestG25_AReadOnlyFolderCannotBeLockedAndSaysSo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	require.NoError(t, os.Mkdir(dir, 0o500))
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		_ = f.Close()
		t.Skip("root may write everywhere; .ci/run runs this test as another user too")
	}
	_, err := open(t, dir).Lock(t.Context(), thread)
	require.ErrorIs(t, err, fs.ErrPermission)
	require.ErrorContains(t, err, dir)
}

func TestG26_FileStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Place {
		dir := t.TempDir()
		return storetest.Place{
			Store:  open(t, dir),
			Reopen: func(t *testing.T, _ string) graph.Store { return open(t, dir) },
			Shared: true,
		}
	})
}
