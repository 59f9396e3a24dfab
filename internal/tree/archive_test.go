package tree_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/testvolume"
	"github.com/org/pr-review-action/internal/tree"
)

const top = "org-repo-c0ffee/"

func TestT8_AnArchivesLinksAndTricksAreNoFiles(t *testing.T) {
	t.Parallel()
	source := served(archived(t, map[string]string{"a.go": "a\n", "twice.go": "first\n", "swapped.go": "x\n"},
		tar.Header{Typeflag: tar.TypeSymlink, Name: top + "link", Linkname: "/etc/passwd"},
		tar.Header{Typeflag: tar.TypeSymlink, Name: top + "sym", Linkname: "/etc/passwd"},
		tar.Header{Typeflag: tar.TypeLink, Name: top + "hard", Linkname: "../../etc/passwd"},
		tar.Header{Typeflag: tar.TypeChar, Name: top + "device"},
		tar.Header{Typeflag: tar.TypeReg, Name: top + "twice.go", Size: 3},
		tar.Header{Typeflag: tar.TypeSymlink, Name: top + "swapped.go", Linkname: "a.go"},
		tar.Header{Typeflag: tar.TypeReg, Name: top + "link", Size: 3},
		tar.Header{Typeflag: tar.TypeReg, Name: top + "../../out.go", Size: 3},
		tar.Header{Typeflag: tar.TypeReg, Name: top + ".git/config", Size: 3},
		tar.Header{Typeflag: tar.TypeReg, Name: "/etc/absolute", Size: 3},
		tar.Header{Typeflag: tar.TypeReg, Name: "other/folder.go", Size: 3},
		tar.Header{Typeflag: tar.TypeReg, Name: top + "big.txt", Size: tree.MaxFile + 1},
	))
	paths, err := source.Paths(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a.go"}, paths)
	for path, want := range map[string]struct {
		kind error
		says string
	}{
		"link":       {tree.ErrNoFile, "appears twice"},
		"swapped.go": {tree.ErrLink, `it is a link to "a.go"`},
		"sym":        {tree.ErrLink, `it is a link to "/etc/passwd"`},
		"hard":       {tree.ErrLink, `it is a link to "../../etc/passwd"`},
		"device":     {tree.ErrRefused, "a device"},
		"twice.go":   {tree.ErrNoFile, "appears twice"},
		"big.txt":    {tree.ErrTooLarge, "1048577 bytes, and at most 1048576"},
		"folder.go":  {tree.ErrNoFile, "outside of its folder"},
	} {
		t.Run(path, func(t *testing.T) {
			_, err := source.Read(t.Context(), path)
			require.ErrorIs(t, err, want.kind)
			require.ErrorContains(t, err, want.says)
		})
	}
}

func TestT23_ABombIsReadWithinTwoSecondsAndLittleMemory(t *testing.T) {
	testvolume.NoRaces(t)
	bomb := archived(t, map[string]string{"a.go": "a\n"},
		tar.Header{Typeflag: tar.TypeReg, Name: top + "zeros", Size: 100 << 20})
	require.Less(t, len(bomb), 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var err error
	took := testvolume.Took(func() { _, err = served(bomb).Read(t.Context(), "a.go") })
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Less(t, took, 2*time.Second)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
}

// settled is the memory that is in use, in bytes.
func settled() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// bare is an archive of these entries alone.
func bare(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	zw, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	require.NoError(t, err)
	tw := tar.NewWriter(zw)
	for _, h := range entries {
		require.NoError(t, tw.WriteHeader(&h))
	}
	require.NoError(t, errors.Join(tw.Close(), zw.Close()))
	return b.Bytes()
}

func TestT23_WhatIsKeptOfLinksIsLittle(t *testing.T) {
	testvolume.NoRaces(t)
	long := strings.Repeat("\x01", 1_000_000)
	for name, c := range map[string]struct{ folder, target string }{"long targets": {"r/", long},
		"a long folder": {long + "/", "a.go"}} {
		var entries []tar.Header
		for i := range 20 {
			entries = append(entries, tar.Header{Typeflag: tar.TypeSymlink, Name: fmt.Sprintf("%sl%d", c.folder, i),
				Linkname: c.target})
		}
		packed := bare(t, entries...)
		before, start, source := settled(), time.Now(), served(packed)
		_, err := source.Read(t.Context(), "l7")
		require.ErrorIs(t, err, tree.ErrLink, name)
		require.Less(t, len(err.Error()), 1000, name)
		require.Less(t, time.Since(start), time.Minute, name)
		require.Less(t, settled(), before+4<<20, name)
		runtime.KeepAlive(source)
	}
}

func TestT23_NotesOnWhatIsNotReadAreBounded(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	twice := tar.Header{Typeflag: tar.TypeReg, Name: top + "twice.go"}
	entries := []tar.Header{twice}
	for i := range tree.MaxFiles + 10 {
		entries = append(entries, tar.Header{Typeflag: tar.TypeSymlink, Name: fmt.Sprintf("%sl%d", top, i),
			Linkname: "x"})
	}
	source := served(bare(t, append(entries, twice, twice)...))
	_, err := source.Read(t.Context(), fmt.Sprintf("l%d", tree.MaxFiles-1))
	require.ErrorIs(t, err, tree.ErrLink)
	_, err = source.Read(t.Context(), fmt.Sprintf("l%d", tree.MaxFiles))
	require.ErrorContains(t, err, "are too many")
	_, err = source.Read(t.Context(), "twice.go")
	require.ErrorContains(t, err, "appears twice", "there is always room for what was held")
}

func TestT23_ATreeIsHeldUpToItsBounds(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	files := map[string]string{}
	for i := range tree.MaxFiles + 10 {
		files["f"+strings.Repeat("x", i%7)+"/"+string(rune('a'+i%26))+strings.Repeat("y", i%11)+
			time.Duration(i).String()] = "x"
	}
	source := served(archived(t, files))
	paths, err := source.Paths(t.Context())
	require.NoError(t, err)
	require.Len(t, paths, tree.MaxFiles)
	_, err = source.Read(t.Context(), "gone.go")
	require.ErrorContains(t, err, "more than 50000 files")
	listing, err := source.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, "the tree has more than 50000 files or 128 MiB of text", listing.Missing)
}

func TestAnArchiveIsFetchedOnceForAllWhoAsk(t *testing.T) {
	t.Parallel()
	packed, fetched := archived(t, small), atomic.Int32{}
	source := tree.Archive(func(context.Context) (io.ReadCloser, error) {
		fetched.Add(1)
		return io.NopCloser(bytes.NewReader(packed)), nil
	})
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			_, err := source.Read(context.WithoutCancel(t.Context()), "a.go")
			require.NoError(t, err)
			_, err = source.Paths(context.WithoutCancel(t.Context()))
			require.NoError(t, err)
		})
	}
	group.Wait()
	require.EqualValues(t, 1, fetched.Load())
}

func TestAFailedFetchIsTriedAgainByTwoLaterCalls(t *testing.T) {
	t.Parallel()
	fetched := 0
	down := tree.Archive(func(context.Context) (io.ReadCloser, error) {
		fetched++
		return nil, errors.New("502 from the server")
	})
	for range 9 {
		_, err := down.Read(t.Context(), "a.go")
		require.ErrorContains(t, err, "fetching the commit's archive: 502 from the server")
	}
	require.Equal(t, 3, fetched)

	packed, tries := archived(t, small), 0
	flaky := tree.Archive(func(context.Context) (io.ReadCloser, error) {
		tries++
		return io.NopCloser(bytes.NewReader(packed[:len(packed)*min(tries, 2)/2])), nil
	})
	_, err := flaky.Read(t.Context(), "a.go")
	require.ErrorContains(t, err, "reading the commit's archive")
	content, err := flaky.Read(t.Context(), "a.go")
	require.NoError(t, err)
	require.Equal(t, small["a.go"], string(content))
}

func TestWhoIsCancelledWhileFetchingTakesNoTryFromOthers(t *testing.T) {
	t.Parallel()
	packed := archived(t, small)
	source := tree.Archive(func(ctx context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(packed)), ctx.Err()
	})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 9 {
		_, err := source.Read(gone, "a.go")
		require.ErrorIs(t, err, context.Canceled)
	}
	_, err := source.Read(t.Context(), "a.go")
	require.NoError(t, err)
}

func TestADamagedArchiveIsNoTree(t *testing.T) {
	t.Parallel()
	packed := archived(t, small)
	for name, damaged := range map[string][]byte{"cut": packed[:len(packed)-20], "no gzip": []byte("<html>"),
		"empty": nil, "checksum": flipped(packed, len(packed)-6)} {
		t.Run(name, func(t *testing.T) {
			_, err := served(damaged).Read(t.Context(), "a.go")
			require.ErrorContains(t, err, "reading the commit's archive")
		})
	}
}

func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}
