package index_test

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/indextest"
)

const header = len("pr-review index 3\n") + sha256.Size

// resealed gives bytes a checksum that fits, as who changes an index on purpose does.
func resealed(stored []byte) []byte {
	if len(stored) < header {
		return stored
	}
	sum := sha256.Sum256(stored[header:])
	return append(append(bytes.Clone(stored[:header-sha256.Size]), sum[:]...), stored[header:]...)
}

func TestADamagedIndexIsNeverTrusted(t *testing.T) {
	t.Parallel()
	whole := indextest.Build(t, indextest.Files).Encode()
	for n := range whole {
		_, err := index.Decode(whole[:n])
		require.ErrorIs(t, err, index.ErrDamaged, "cut at %d", n)
		_, err = index.Decode(resealed(whole[:n]))
		require.ErrorIs(t, err, index.ErrDamaged, "cut at %d, with a checksum that fits", n)
		flipped := bytes.Clone(whole)
		flipped[n] ^= 0x40
		_, err = index.Decode(flipped)
		require.ErrorIs(t, err, index.ErrDamaged, "flipped at %d", n)
		x, err := index.Decode(resealed(flipped)) // may be another index, and never breaks anything
		if err != nil {
			require.ErrorIs(t, err, index.ErrDamaged)
			continue
		}
		_, err = x.Lexical(t.Context(), index.Terms("add an item"), 5, nil)
		require.NoError(t, err)
		x.WithVectors("m", 1, nil).Chunks()
	}
	_, err := index.Decode(append(bytes.Clone(whole), 0))
	require.ErrorIs(t, err, index.ErrDamaged)
}

func FuzzDecode(f *testing.F) {
	x := indextest.Build(f, indextest.Files)
	f.Add(x.Encode())
	vectors := map[string][]float32{}
	for _, c := range x.Chunks() {
		vectors[c.Key()] = []float32{0, 1}
	}
	f.Add(x.WithVectors("m", 2, vectors).Encode())
	f.Fuzz(func(t *testing.T, stored []byte) {
		x, err := index.Decode(resealed(stored))
		if err != nil {
			require.ErrorIs(t, err, index.ErrDamaged)
			return
		}
		_, err = x.Lexical(t.Context(), index.Terms("add an item"), 5, nil)
		require.NoError(t, err)
		again, err := index.Decode(x.Encode())
		require.NoError(t, err)
		require.Equal(t, len(x.Chunks()), len(again.Chunks()))
	})
}

func TestACacheKeepsThreeAndRemovesWhatIsDamaged(t *testing.T) {
	t.Parallel()
	c := index.Cache{Folder: filepath.Join(t.TempDir(), "of", "a clone")}
	x, exact := c.Load("a")
	require.Nil(t, x)
	require.False(t, exact)
	built := indextest.Build(t, indextest.Files)
	for i, commit := range []string{"a", "b", "c", "d"} {
		require.NoError(t, c.Keep(commit, built))
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		require.NoError(t, os.Chtimes(filepath.Join(c.Folder, commit+".index"), at, at))
	}
	names := func() (all []string) {
		entries, err := os.ReadDir(c.Folder)
		require.NoError(t, err)
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	require.Equal(t, []string{"b.index", "c.index", "d.index"}, names())
	x, exact = c.Load("b")
	require.True(t, exact)
	require.Equal(t, built.Encode(), x.Encode())
	_, exact = c.Load("gone")
	require.False(t, exact, "the newest one is built on")

	require.NoError(t, os.WriteFile(filepath.Join(c.Folder, "d.index"), built.Encode()[:30], 0o600))
	half := filepath.Join(c.Folder, ".writing-1")
	require.NoError(t, os.WriteFile(half, []byte("half"), 0o600))
	x, exact = c.Load("d")
	require.NotNil(t, x)
	require.False(t, exact)
	require.Equal(t, []string{".writing-1", "b.index", "c.index"}, names(), "somebody may still be writing it")
	old := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(half, old, old))
	c.Load("d")
	require.Equal(t, []string{"b.index", "c.index"}, names())
}

func TestWhatCannotBeKeptLosesNothing(t *testing.T) {
	t.Parallel()
	x, folder := indextest.Build(t, indextest.Files), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
	require.Error(t, index.Cache{Folder: filepath.Join(folder, "file")}.Keep("a", x))
	c := index.Cache{Folder: folder}
	require.NoError(t, os.Mkdir(filepath.Join(folder, "a.index"), 0o700))
	require.Error(t, c.Keep("a", x))
	found, _ := c.Load("a")
	require.Nil(t, found)
}

func TestManyProcessesKeepAtOnce(t *testing.T) {
	t.Parallel()
	c, x := index.Cache{Folder: t.TempDir()}, indextest.Build(t, indextest.Files)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 10 {
				if err := c.Keep("a", x); err != nil {
					t.Error(err)
				}
				if found, _ := c.Load("a"); found != nil && !bytes.Equal(found.Encode(), x.Encode()) {
					t.Error("another index was read")
				}
			}
		})
	}
	group.Wait()
	found, exact := c.Load("a")
	require.True(t, exact)
	require.Equal(t, x.Encode(), found.Encode())
}
