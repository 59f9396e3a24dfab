package filestore

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// addFrame adds a record of which the writer knew that so much was on disk.
func addFrame(text []byte, synced int, record string) []byte {
	text = append(text, frameHeader(int64(len(text)), int64(synced), len(record), []byte(record))...)
	return append(text, record...)
}

func TestG21_ATornTailIsCutAtTheLastWholeRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	records := []string{"first", "2", "the third"}
	var whole []byte
	var ends []int
	for _, r := range records {
		whole = addFrame(whole, len(whole), r)
		ends = append(ends, len(whole))
		require.NoError(t, s.Append(t.Context(), thread, []byte(r)))
	}
	path := filepath.Join(s.folder(thread), journalFile)
	onDisk, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, whole, onDisk)
	for cut := range len(whole) + 1 {
		for _, tail := range []string{"", "\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
			require.NoError(t, os.WriteFile(path, append(whole[:cut:cut], tail...), 0o600))
			var want []string
			for i, end := range ends {
				if end <= cut {
					want = append(want, records[i])
				}
			}
			again := open(t, dir)
			_, journal := load(t, again)
			require.Equal(t, want, journal, "cut at %d", cut)
			require.NoError(t, again.Append(t.Context(), thread, []byte("next")))
			_, journal = load(t, again)
			require.Equal(t, append(want, "next"), journal, "cut at %d", cut)
			onDisk, err := os.ReadFile(path)
			require.NoError(t, err)
			read, err := wholeLength(onDisk)
			require.NoError(t, err)
			require.Len(t, onDisk, read, "nothing of the torn record is left")
		}
	}
}

func TestG21_DamageBeforeTheLastRecordIsAnErrorThatNamesTheFile(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	path := filepath.Join(s.folder(thread), journalFile)
	text := addFrame(nil, 0, "a")
	text = addFrame(text, len(text), "b")
	for i := range text {
		bad := append([]byte(nil), text...)
		bad[i] ^= 0x40
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		if i >= len(text)/2 { // the last record: as torn
			_, journal := load(t, s)
			require.Equal(t, []string{"a"}, journal)
			continue
		}
		_, err := s.Load(t.Context(), thread)
		require.ErrorIs(t, err, graph.ErrSnapshot)
		require.ErrorContains(t, err, path)
		err = s.Append(t.Context(), thread, []byte("c"))
		require.ErrorIs(t, err, graph.ErrSnapshot)
		require.ErrorContains(t, err, path)
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, bad, kept, "nothing is cut off")
	}
}

// Three records were written before one sync that never came: of them any may
// be on disk, and the one before them is.
func TestG21_AHoleAmongRecordsThatWereNotAcknowledgedIsCutOff(t *testing.T) {
	t.Parallel()
	text := addFrame(nil, 0, "acknowledged")
	acked := len(text)
	for _, r := range []string{"b", "c", "d"} {
		text = addFrame(text, acked, r)
	}
	for i := range text {
		for _, bad := range []byte{0, text[i] ^ 0x40} {
			if bad == text[i] {
				continue
			}
			torn := slices.Clone(text)
			torn[i] = bad
			whole, err := wholeLength(torn)
			if i < acked {
				require.ErrorIs(t, err, graph.ErrSnapshot, "byte %d", i)
				continue
			}
			require.NoError(t, err, "byte %d", i)
			require.Equal(t, acked+(i-acked)/(headLength+1)*(headLength+1), whole)
		}
	}
}

// slowFile is written to while it syncs.
type slowFile struct {
	bytes.Buffer
	syncs  int
	during func()
}

func (f *slowFile) Close() error { return nil }

func (f *slowFile) Sync() error {
	if f.syncs++; f.syncs == 1 {
		f.during()
	}
	return nil
}

func TestG20_RecordsWrittenWhileASyncRunsShareTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &slowFile{}
		j := newJournal(f, 0)
		late := make(chan error, 2)
		f.during = func() {
			for range cap(late) {
				go func() { late <- j.append([]byte("late")) }()
			}
			synctest.Wait()
			require.Empty(t, late, "they wait")
		}
		require.NoError(t, j.append([]byte("first")))
		for range cap(late) {
			require.NoError(t, <-late)
		}
		require.Equal(t, 2, f.syncs)
	})
}

func TestAFrameElsewhereInTheFileIsNone(t *testing.T) {
	t.Parallel()
	frame := addFrame(nil, 0, "a")
	whole, err := wholeLength(slices.Repeat(frame, 2))
	require.NoError(t, err)
	require.Equal(t, len(frame), whole)
}

// FuzzJournal reads garbage, and whole records with garbage put over them.
func FuzzJournal(f *testing.F) {
	f.Add([]byte("a"), []byte{1, 2, 3}, uint16(0))
	f.Fuzz(func(t *testing.T, record, garbage []byte, at uint16) {
		_, _ = wholeLength(garbage)
		text := addFrame(nil, 0, "first "+string(record))
		acked := len(text)
		text = addFrame(text, acked, "second"+string(record))
		if int(at) < acked {
			at = uint16(acked)
		}
		text = append(text[:min(int(at), len(text))], garbage...)
		whole, err := wholeLength(text)
		require.NoError(t, err, "nothing that was acknowledged is touched")
		require.GreaterOrEqual(t, whole, acked)
		again, err := wholeLength(text[:whole])
		require.NoError(t, err)
		require.Equal(t, whole, again)
		list := slices.Collect(records(text))
		require.Equal(t, "first "+string(record), string(list[0]))
		var copied []byte
		for _, r := range list {
			require.Equal(t, text[len(copied)+headLength:len(copied)+headLength+len(r)], r)
			copied = append(copied, text[len(copied):len(copied)+headLength+len(r)]...)
		}
		require.Equal(t, text[:whole], copied)
	})
}
