//go:build linux

package index_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/indextest"
	"github.com/org/pr-review-action/internal/testvolume"
	"github.com/org/pr-review-action/internal/tree"
)

// Variables by which this test's program keeps indexes in a separate process.
const (
	keepIn   = "INDEX_KEEP_IN"   // the folder
	keepRoom = "INDEX_KEEP_ROOM" // bytes that a file may have; the process keeps one index then, otherwise ever more
)

func TestMain(m *testing.M) {
	if folder := os.Getenv(keepIn); folder != "" {
		if err := keepOn(index.Cache{Folder: folder}, os.Getenv(keepRoom)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	debug.SetGCPercent(400) // they allocate much and keep little
	os.Exit(m.Run())
}

// keepOn keeps indexes of four commits in turn until it is killed, or one on a disk
// without room for it.
func keepOn(c index.Cache, room string) error {
	x, err := large("child")
	if err != nil {
		return err
	}
	if bytes, err := strconv.ParseUint(room, 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes}); err != nil {
			return err
		}
		return c.Keep(commits[0], x)
	}
	for i := 0; err == nil; i++ {
		err = c.Keep(commits[i%len(commits)], x)
	}
	return err
}

var commits = []string{"aa", "bb", "cc", "dd"}

// large is an index that takes a while to write, of functions of one name.
func large(name string) (*index.Index, error) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("f%d.go", i)] = strings.Repeat("func "+name+"() {\n}\n\n", 200)
	}
	x, _, err := index.Build(context.Background(), tree.Files(files), nil,
		index.Options{Cut: indextest.Cut, Made: "paragraphs"})
	return x, err
}

// child is a process that keeps indexes in a folder.
func child(t *testing.T, folder, room string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), keepIn+"="+folder, keepRoom+"="+room)
	return cmd
}

// A process that is killed while it writes leaves a whole index or none, whatever
// others do at the time.
func TestProcessesThatAreKilledLeaveWholeIndexes(t *testing.T) {
	t.Parallel()
	c := index.Cache{Folder: t.TempDir()}
	mine, err := large("parent")
	require.NoError(t, err)
	theirs, err := large("child")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for range testvolume.Of(200, 8) {
		var group sync.WaitGroup
		for range 2 {
			cmd := child(t, c.Folder, "")
			require.NoError(t, cmd.Start())
			after := time.Duration(100+r.IntN(150)) * time.Millisecond
			group.Go(func() {
				time.Sleep(after) // of another process, which no clock of ours moves
				require.NoError(t, cmd.Process.Kill())
				require.ErrorContains(t, cmd.Wait(), "killed")
			})
		}
		group.Go(func() { require.NoError(t, c.Keep("mine", mine)) })
		group.Wait()
		for _, commit := range append(commits, "mine") {
			x, exact := c.Load(commit)
			require.True(t, x == nil || same(x, theirs) || commit == "mine" && exact && same(x, mine) || !exact)
		}
	}
	stored, err := filepath.Glob(filepath.Join(c.Folder, "*.index"))
	require.NoError(t, err)
	require.NotEmpty(t, stored)
	for _, path := range stored {
		_, exact := c.Load(strings.TrimSuffix(filepath.Base(path), ".index"))
		require.True(t, exact, path)
	}
}

func same(x, y *index.Index) bool { return bytes.Equal(x.Encode(), y.Encode()) }

// A full disk costs the new index alone: the old one stays, and nothing half-written.
func TestAFullDiskKeepsTheOldIndex(t *testing.T) {
	t.Parallel()
	c := index.Cache{Folder: t.TempDir()}
	old := indextest.Build(t, indextest.Files)
	require.NoError(t, c.Keep(commits[0], old))
	whole, err := large("child")
	require.NoError(t, err)
	for _, room := range []int{0, 1, 4096, len(whole.Encode()) - 1} {
		out, err := child(t, c.Folder, strconv.Itoa(room)).CombinedOutput()
		var ended *exec.ExitError
		require.True(t, errors.As(err, &ended), "%d bytes of room", room)
		require.Contains(t, string(out), "writing the index: ")
		require.Contains(t, string(out), "file too large")
		left, err := os.ReadDir(c.Folder)
		require.NoError(t, err)
		require.Len(t, left, 1)
		x, exact := c.Load(commits[0])
		require.True(t, exact)
		require.Equal(t, old.Encode(), x.Encode())
	}
	require.NoError(t, child(t, c.Folder, strconv.Itoa(len(whole.Encode()))).Run())
	x, exact := c.Load(commits[0])
	require.True(t, exact)
	require.Equal(t, whole.Encode(), x.Encode())
}
