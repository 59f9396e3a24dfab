package filestore

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"

	"github.com/org/pr-review-action/internal/graph"
)

// A journal is a sequence of frames, each a header followed by a record. The header
// is little endian: a CRC-32C (4 bytes) over the rest of the header, the frame's
// offset in the file and the record; the record's length (4 bytes); and how many
// bytes of the journal were known to be on disk when the frame was written (8 bytes).
//
// Several frames may be written before one sync, which acknowledges them all. If the
// machine crashes in between, any subset of their pages may be on disk. An incomplete
// frame is therefore cut off with everything after it, unless a later frame records
// that it was on disk: then the journal is damaged.
const headLength = 16

// maxRecord is the maximum length of a record in bytes; the graph writes none longer.
const maxRecord = 256 << 20

// errDamaged reports that an acknowledged record is incomplete, which no crash
// can cause.
var errDamaged = fmt.Errorf("%w: a record of the journal is damaged", graph.ErrSnapshot)

// errClosed reports a write while the thread is being saved, locked or removed.
var errClosed = errors.New("the journal was closed")

// journal is an open journal. After a failed write or sync it is unknown what is
// on disk, so the journal accepts no more records.
type journal struct {
	mu      sync.Mutex
	ended   sync.Cond // signals the end of a sync; uses mu
	f       File
	w       *bufio.Writer // writes small records to f at once and large ones without a copy
	written int64         // end of the last frame
	synced  int64         // bytes known to be on disk
	syncing bool          // one caller syncs for all that wait
	broken  error
}

func newJournal(f File, whole int64) *journal {
	j := &journal{f: f, w: bufio.NewWriter(f), written: whole, synced: whole}
	j.ended.L = &j.mu
	return j
}

// openJournal opens a journal after its last complete record. It rewrites what an
// earlier process wrote: after a failed sync the system shows bytes that are not
// on disk, and reports success for a second sync.
func (s *Store) openJournal(thread string) (*journal, error) {
	folder := s.folder(thread)
	path := filepath.Join(folder, journalFile)
	text, whole, err := s.readJournal(folder)
	if err != nil {
		return nil, err
	}
	if len(text) > 0 {
		if err := s.replace(path, text[:whole]); err != nil {
			return nil, err
		}
	}
	f, err := s.disk.Open(path)
	if err != nil {
		return nil, err
	}
	if err := s.disk.SyncDir(folder); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.journals[thread] = newJournal(f, int64(whole))
	return s.journals[thread], nil
}

// readJournal reads a journal, and returns where its last complete record ends.
func (s *Store) readJournal(folder string) (text []byte, whole int, err error) {
	path := filepath.Join(folder, journalFile)
	if text, err = s.disk.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	if whole, err = wholeLength(text); err != nil {
		return nil, 0, fmt.Errorf("reading %s: %w", path, err)
	}
	return text, whole, nil
}

// append writes a record and returns when it is on disk. Callers that arrive
// during a sync share the next one.
func (j *journal) append(record ...[]byte) error {
	size := 0
	for _, part := range record {
		size += len(part)
	}
	if size == 0 || size > maxRecord {
		return fmt.Errorf("a record has 1 to %d bytes, not %d", maxRecord, size)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.broken
	}
	for _, part := range append([][]byte{frameHeader(j.written, j.synced, size, record...)}, record...) {
		_, _ = j.w.Write(part) // the writer keeps its error for Flush
	}
	if j.broken = j.w.Flush(); j.broken != nil {
		return j.broken
	}
	j.written += headLength + int64(size)
	return j.sync(j.written)
}

// sync returns when the journal is on disk up to end. It releases mu while it waits.
func (j *journal) sync(end int64) error {
	for j.synced < end {
		switch {
		case j.broken != nil:
			return j.broken
		case j.syncing:
			j.ended.Wait()
		default:
			j.syncAll()
		}
	}
	return nil
}

// syncAll syncs everything written so far.
func (j *journal) syncAll() {
	written := j.written
	j.syncing = true
	j.mu.Unlock()
	err := j.f.Sync()
	j.mu.Lock()
	j.syncing = false
	if err != nil {
		j.broken = err
	} else {
		j.synced = written
	}
	j.ended.Broadcast()
}

// failed reports whether the disk failed a write or a sync.
func (j *journal) failed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.broken != nil && !errors.Is(j.broken, errClosed)
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil { // else those that wait are still to learn why
		j.broken = errClosed
	}
	return j.f.Close()
}

func frameHeader(at, synced int64, size int, record ...[]byte) []byte {
	h := make([]byte, headLength)
	binary.LittleEndian.PutUint32(h[4:], uint32(size))
	binary.LittleEndian.PutUint64(h[8:], uint64(synced))
	binary.LittleEndian.PutUint32(h, checksum(at, h, record...))
	return h
}

func checksum(at int64, head []byte, record ...[]byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Checksum(head[4:], table), table, binary.LittleEndian.AppendUint64(nil, uint64(at)))
	for _, part := range record {
		sum = crc32.Update(sum, table, part)
	}
	return sum
}

// wholeLength returns where the last complete record of a journal ends. Anything
// after it is left over from unacknowledged records.
func wholeLength(text []byte) (whole int, err error) {
	for record := range records(text) {
		whole += headLength + len(record)
	}
	for at := whole + 1; at < len(text); at++ {
		if record, synced := frameAt(text, at); record != nil && synced > whole {
			return 0, fmt.Errorf("%w at byte %d", errDamaged, whole)
		}
	}
	return whole, nil
}

// records iterates over the complete records at the start of a journal, without
// copying them.
func records(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for at := 0; ; {
			record, _ := frameAt(text, at)
			if record == nil || !yield(record) {
				return
			}
			at += headLength + len(record)
		}
	}
}

// frameAt decodes the frame at an offset; record is nil if there is no complete
// frame.
func frameAt(text []byte, at int) (record []byte, synced int) {
	if len(text)-at < headLength {
		return nil, 0
	}
	h, rest := text[at:at+headLength], text[at+headLength:]
	n, known := binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint64(h[8:])
	if n == 0 || n > maxRecord || int(n) > len(rest) || known > uint64(at) {
		return nil, 0
	}
	if checksum(int64(at), h, rest[:n]) != binary.LittleEndian.Uint32(h) {
		return nil, 0
	}
	return rest[:n:n], int(known)
}
