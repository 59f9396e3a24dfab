package filestore

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

const faultDir = "/state/pr-review"

func openOn(t *testing.T, disk Disk) *Store {
	t.Helper()
	s, err := NewOn(disk, faultDir)
	require.NoError(t, err)
	return s
}

func faultyStore(t *testing.T) (*Store, *faultyDisk) {
	t.Helper()
	disk := newFaultyDisk()
	s := openOn(t, disk)
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	require.NoError(t, s.Append(t.Context(), thread, []byte("r1")))
	return s, disk
}

func TestG21_AFullDiskLeavesTheOldSnapshotAndWholeRecords(t *testing.T) {
	t.Parallel()
	s, disk := faultyStore(t)
	full := func(n int, write func(*Store) error) error {
		again := openOn(t, disk)
		disk.Fail(n, diskFull, false)
		err := write(again)
		disk.Mend()
		saved, loadErr := openOn(t, disk).Load(t.Context(), thread)
		require.NoError(t, loadErr)
		if err != nil {
			require.ErrorIs(t, err, diskFull)
			require.Equal(t, "one", string(saved.Snapshot))
			require.Equal(t, "r1", string(saved.Journal[0]))
		}
		return err
	}
	failures := 0
	for n := 1; full(n, func(s *Store) error {
		return s.Append(t.Context(), thread, []byte("a longer record"))
	}) != nil; n++ {
		failures++
	}
	require.Greater(t, failures, 8)
	for n := 1; n <= 6; n++ { // the sixth operation puts the new snapshot in place
		require.Error(t, full(n, func(s *Store) error {
			return s.Save(t.Context(), thread, []byte("a longer snapshot"))
		}))
		names, err := disk.ReadDir(s.folder(thread))
		require.NoError(t, err)
		require.Equal(t, []string{journalFile, snapshotFile, threadFile}, names, "nothing half done takes room")
	}
}

func TestAfterAFailedSyncNoRecordIsAcknowledged(t *testing.T) {
	t.Parallel()
	s, disk := faultyStore(t)
	disk.Fail(2, diskBroken, true) // after the record
	require.ErrorIs(t, s.Append(t.Context(), thread, []byte("r2")), diskBroken)
	require.ErrorIs(t, s.Append(t.Context(), thread, []byte("r3")), diskBroken)
	disk.Mend()
	require.NoError(t, s.Save(t.Context(), thread, []byte("two")), "a new snapshot starts a new journal")
	require.NoError(t, s.Append(t.Context(), thread, []byte("r4")))
}

// full is a disk on which no file grows.
type full struct{ Disk }

func (d full) Open(path string) (File, error) {
	f, err := d.Disk.Open(path)
	return fullFile{f}, err
}

type fullFile struct{ File }

func (fullFile) Write([]byte) (int, error) { return 0, diskFull }

func TestG20_ARecordThatCouldNotBeWrittenIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	s, disk := faultyStore(t)
	require.NoError(t, s.Save(t.Context(), thread, []byte("two"))) // with a journal to copy, it fails before
	require.ErrorIs(t, openOn(t, full{disk}).Append(t.Context(), thread, []byte("r2")), diskFull)
	require.ErrorContains(t, s.Append(t.Context(), thread), "a record has 1 to")
	failed, err := s.journal(t.Context(), thread)
	require.NoError(t, err)
	failed.broken = diskFull
	require.ErrorIs(t, failed.append([]byte("r2")), diskFull, "who waited for it while it failed")
}

// TestP4_OneFailedWriteOrSyncLosesNoAnswer fails it while several answers wait for one sync, and then the power.
func TestP4_OneFailedWriteOrSyncLosesNoAnswer(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 4, 5} { // a write or a sync, as they come
		s, disk := faultyStore(t)
		disk.Fail(n, diskBroken, false)
		want := map[string]bool{"r1": true}
		var group sync.WaitGroup
		for _, r := range []string{"r2", "r3", "r4", "r5"} {
			want[r] = true
			group.Go(func() { assert.NoError(t, s.Append(t.Context(), thread, []byte(r))) })
		}
		group.Wait()
		disk.Crash(1, lost, 0)
		_, err := s.Load(t.Context(), thread)
		require.ErrorIs(t, err, errDown)
		disk.Restart()
		saved, err := openOn(t, disk).Load(t.Context(), thread)
		require.NoError(t, err)
		kept := map[string]bool{}
		for _, r := range saved.Journal {
			kept[string(r)] = true
		}
		require.Equal(t, want, kept, "operation %d", n)
		require.Len(t, saved.Journal, len(want), "none is there twice")
	}
}

// The system shows what a sync failed to bring to disk, and never brings it
// there: those who continue from it must write it again.
func TestG20_WhatAFailedSyncLeftBehindIsWrittenAgain(t *testing.T) {
	t.Parallel()
	s, disk := faultyStore(t)
	disk.Fail(2, diskBroken, true)
	require.Error(t, s.Append(t.Context(), thread, []byte("r2")))
	disk.Mend()
	again := openOn(t, disk)
	seen, err := again.Load(t.Context(), thread)
	require.NoError(t, err)
	require.Len(t, seen.Journal, 2)
	require.NoError(t, again.Append(t.Context(), thread, []byte("r3")))
	disk.Crash(1, lost, 0)
	_, err = again.Load(t.Context(), thread)
	require.ErrorIs(t, err, errDown)
	disk.Restart()
	saved, err := openOn(t, disk).Load(t.Context(), thread)
	require.NoError(t, err)
	require.Equal(t, append(seen.Journal, []byte("r3")), saved.Journal)
}

func TestG25_ALockThatCannotBeWrittenSaysWhereAndWhy(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		disk := newFaultyDisk()
		s := openOn(t, disk)
		disk.Fail(n, diskFull, true)
		release, err := s.Lock(t.Context(), thread)
		disk.Mend()
		if err == nil {
			require.Greater(t, n, 8)
			require.NoError(t, release())
			return
		}
		require.ErrorIs(t, err, diskFull)
		require.NotErrorIs(t, err, graph.ErrBusy)
		require.ErrorContains(t, err, "locking thread")
		require.ErrorContains(t, err, "/state")
		disk.Restart() // what could not be unlocked ends with the process
		release, err = openOn(t, disk).Lock(t.Context(), thread)
		require.NoError(t, err)
		require.NoError(t, release())
	}
}

func TestG25_AJournalIsNotWrittenAcrossAnothersLock(t *testing.T) {
	t.Parallel()
	s, disk := faultyStore(t)
	other := openOn(t, disk)
	release, err := other.Lock(t.Context(), thread)
	require.NoError(t, err)
	require.NoError(t, other.Append(t.Context(), thread, []byte("r2")))
	require.NoError(t, release())
	release, err = s.Lock(t.Context(), thread)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), thread, []byte("r3")))
	require.NoError(t, release())
	saved, err := openOn(t, disk).Load(t.Context(), thread)
	require.NoError(t, err)
	require.Equal(t, [][]byte{[]byte("r1"), []byte("r2"), []byte("r3")}, saved.Journal)

	require.NoError(t, other.Save(t.Context(), thread, []byte("two")))
	_, err = s.Lock(t.Context(), thread)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), thread, []byte("r4")))
	saved, err = openOn(t, disk).Load(t.Context(), thread)
	require.NoError(t, err)
	require.Equal(t, graph.Saved{Snapshot: []byte("two"), Journal: [][]byte{[]byte("r4")}}, saved)
}

// A process that was killed leaves what can be read and is not on disk. Whoever
// locks the thread acts on it, and then the power fails.
func TestG20_WhatTheHolderOfALockReadsIsOnDisk(t *testing.T) {
	t.Parallel()
	for n := 1; n < 32; n++ {
		s, disk := faultyStore(t)
		if n%2 == 0 { // without a journal
			require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
		}
		disk.Crash(1+n/2, killed, 0)
		if n%2 == 1 {
			_ = s.Append(t.Context(), thread, []byte("r2"))
		}
		_ = s.Save(t.Context(), thread, []byte("two"))
		disk.Restart()
		s = openOn(t, disk)
		_, err := s.Lock(t.Context(), thread)
		require.NoError(t, err)
		seen, err := s.Load(t.Context(), thread)
		require.NoError(t, err)
		disk.Crash(1, lost, 0)
		require.ErrorIs(t, s.Save(t.Context(), thread, nil), errDown)
		disk.Restart()
		saved, err := openOn(t, disk).Load(t.Context(), thread)
		require.NoError(t, err)
		require.Equal(t, string(seen.Snapshot), string(saved.Snapshot), "killed in operation %d", n)
		if string(saved.Snapshot) == "one" { // otherwise a journal that came back belongs to earlier steps
			require.Equal(t, seen.Journal, saved.Journal, "killed in operation %d", n)
		}
	}
}

func TestAFolderAboveTheStoreThatMayNotBeReadIsLeftAlone(t *testing.T) {
	t.Parallel()
	disk := newFaultyDisk()
	require.NoError(t, disk.Mkdir("/state"))
	s := openOn(t, forbidden{disk})
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
}

// forbidden is a disk whose root folder may be passed through and not read.
type forbidden struct{ *faultyDisk }

func (d forbidden) SyncDir(path string) error {
	if path == filepath.Dir(path) {
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	return d.faultyDisk.SyncDir(path)
}

// A crash in the midst of Remove leaves the thread as it was or none, and never,
// also after a second crash, an old journal to a new thread of the same id.
func TestG21_AThreadThatWasRemovedDoesNotComeBackInParts(t *testing.T) {
	t.Parallel()
	whole := map[string][][]byte{"one": {[]byte("r1")}, "anew": nil}
	check := func(disk Disk, format string, args ...any) {
		saved, err := openOn(t, disk).Load(t.Context(), thread)
		if !errors.Is(err, graph.ErrNoThread) {
			require.NoError(t, err)
			require.Equal(t, whole[string(saved.Snapshot)], saved.Journal, format, args)
		}
	}
	for _, o := range allOutcomes() {
		for n := 1; n < 16; n++ {
			for seed := range uint64(20) {
				s, disk := faultyStore(t)
				disk.Crash(n, o, seed)
				_ = errors.Join(s.Remove(t.Context(), thread), s.Save(t.Context(), thread, []byte("anew")))
				disk.Restart()
				check(disk, "%s in operation %d, seed %d", o, n, seed)
				s = openOn(t, disk)
				_, err := s.Load(t.Context(), thread)
				if !errors.Is(err, graph.ErrNoThread) {
					continue
				}
				disk.Crash(1+int(seed), o, seed)
				_ = s.Save(t.Context(), thread, []byte("anew"))
				disk.Restart()
				check(disk, "%s in operation %d, seed %d, and again", o, n, seed)
			}
		}
	}
}
