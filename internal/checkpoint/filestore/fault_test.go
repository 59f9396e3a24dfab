package filestore

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// faulty is a file on a disk that is full, or that fails.
type faulty struct {
	file
	room *int // bytes that may still be written
	sync *error
}

func (f faulty) Write(b []byte) (int, error) {
	n, err := f.file.Write(b[:min(len(b), *f.room)])
	if *f.room -= n; err == nil && n < len(b) {
		err = errFull
	}
	return n, err
}

func (f faulty) Sync() error {
	if *f.sync != nil {
		return *f.sync
	}
	return f.file.Sync()
}

func faultyStore(t *testing.T) (s *Store, room *int, syncErr *error) {
	s = open(t, t.TempDir())
	room, syncErr = new(int), new(error)
	*room = 1 << 20
	s.open = func(path string) (file, error) {
		f, err := openFile(path)
		return faulty{f, room, syncErr}, err
	}
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	require.NoError(t, s.Append(t.Context(), thread, []byte("r1")))
	return s, room, syncErr
}

func TestG21_AFullDiskLeavesTheOldSnapshotAndWholeRecords(t *testing.T) {
	t.Parallel()
	s, room, _ := faultyStore(t)
	for n := range 12 {
		*room = n
		again := open(t, s.Dir())
		again.open = s.open
		require.ErrorIs(t, again.Append(t.Context(), thread, []byte("a longer record")), errFull)
		*room = n
		err := s.Save(t.Context(), thread, []byte("a longer snapshot"))
		require.ErrorIs(t, err, errFull)
	}
	*room = 1 << 20
	require.NoError(t, open(t, s.Dir()).Append(t.Context(), thread, []byte("r2")))
	snapshot, journal := load(t, open(t, s.Dir()))
	require.Equal(t, "one", snapshot)
	require.Equal(t, []string{"r1", "r2"}, journal)
	require.NoFileExists(t, filepath.Join(s.folder(thread), snapshotFile+".new"))
}

func TestAfterAFailedSyncNoRecordIsAcknowledged(t *testing.T) {
	t.Parallel()
	s, _, syncErr := faultyStore(t)
	*syncErr = errors.New("input/output error")
	require.ErrorIs(t, s.Append(t.Context(), thread, []byte("r2")), *syncErr)
	failed := *syncErr
	*syncErr = nil
	require.ErrorIs(t, s.Append(t.Context(), thread, []byte("r3")), failed)
	require.NoError(t, s.Save(t.Context(), thread, []byte("two")), "a new snapshot starts a new journal")
	require.NoError(t, s.Append(t.Context(), thread, []byte("r4")))
}

func TestG21_AfterAFailedWriteTheJournalIsOpenedAgain(t *testing.T) {
	t.Parallel()
	s, room, _ := faultyStore(t)
	*room = 3
	require.ErrorIs(t, s.Append(t.Context(), thread, []byte("r2")), errFull)
	*room = 1 << 20
	require.ErrorIs(t, s.Append(t.Context(), thread, []byte("r3")), errFull)
	again := open(t, s.Dir())
	require.NoError(t, again.Append(t.Context(), thread, []byte("r4")))
	_, journal := load(t, again)
	require.Equal(t, []string{"r1", "r4"}, journal)
}
