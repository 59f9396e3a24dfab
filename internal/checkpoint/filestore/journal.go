package filestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/org/pr-review-action/internal/graph"
)

// A journal is a row of records. In front of each stand its length and its
// CRC-32C, four bytes each, little endian. No record is empty: zeros at the
// end of a file, as a crash can leave them, are none.
const headLength = 8

// maxRecord is the longest record, in bytes.
const maxRecord = 64 << 20

// errDamaged is a damaged record that others follow: no crash leaves that.
var errDamaged = fmt.Errorf("%w: a record of the journal is damaged", graph.ErrSnapshot)

// journal is an open journal. Where a write or a sync fails nobody knows what is
// on disk, and the journal takes no more: the next one to open it cuts off what
// is not whole.
type journal struct {
	mu      sync.Mutex // guards the file's end
	f       file
	written int64 // bytes of whole records
	broken  error

	syncing sync.Mutex // held while one caller syncs for all that wait
	synced  int64      // bytes known to be on disk
}

// newJournal goes on behind the last whole record, and cuts off a torn tail.
func newJournal(f file) (*journal, error) {
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	_, whole, err := recordsOf(text)
	if err != nil {
		return nil, err
	}
	if whole < len(text) {
		if err := f.Truncate(int64(whole)); err != nil {
			return nil, err
		}
	}
	if _, err := f.Seek(int64(whole), io.SeekStart); err != nil {
		return nil, err
	}
	return &journal{f: f, written: int64(whole)}, nil
}

// append returns when the record is on disk. Callers that come while a sync
// runs share the next one.
func (j *journal) append(record []byte) error {
	if len(record) == 0 || len(record) > maxRecord {
		return fmt.Errorf("a record has 1 to %d bytes, not %d", maxRecord, len(record))
	}
	end, err := j.write(record)
	if err != nil {
		return err
	}
	j.syncing.Lock()
	defer j.syncing.Unlock()
	if j.synced >= end {
		return nil
	}
	return j.sync()
}

// write adds the record in one write and returns where it ends.
func (j *journal) write(record []byte) (end int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return 0, j.broken
	}
	n, err := j.f.Write(frame(record))
	if err != nil {
		j.broken = err
		return 0, err
	}
	j.written += int64(n)
	return j.written, nil
}

func (j *journal) sync() error {
	j.mu.Lock()
	written, broken := j.written, j.broken
	j.mu.Unlock()
	if broken != nil {
		return broken
	}
	if err := j.f.Sync(); err != nil {
		j.mu.Lock()
		j.broken = err
		j.mu.Unlock()
		return err
	}
	j.synced = written
	return nil
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = errors.New("the journal was closed")
	return j.f.Close()
}

func frame(record []byte) []byte {
	framed := make([]byte, headLength, headLength+len(record))
	binary.LittleEndian.PutUint32(framed, uint32(len(record)))
	binary.LittleEndian.PutUint32(framed[4:], checksum(record))
	return append(framed, record...)
}

func checksum(record []byte) uint32 {
	return crc32.Checksum(record, crc32.MakeTable(crc32.Castagnoli))
}

// recordsOf reads whole records from the front, and says where they end. What
// is left is the torn end of a journal, unless a whole record stands in it.
func recordsOf(text []byte) (records [][]byte, whole int, err error) {
	for {
		record := first(text[whole:])
		if record == nil {
			break
		}
		records = append(records, record)
		whole += headLength + len(record)
	}
	for i := whole + 1; i < len(text); i++ {
		if first(text[i:]) != nil {
			return nil, 0, fmt.Errorf("%w at byte %d", errDamaged, whole)
		}
	}
	return records, whole, nil
}

// first is the record at the front of a text, nil where none is whole.
func first(text []byte) []byte {
	if len(text) < headLength {
		return nil
	}
	n := int(binary.LittleEndian.Uint32(text))
	if n == 0 || n > maxRecord || n > len(text)-headLength {
		return nil
	}
	record := text[headLength : headLength+n : headLength+n]
	if checksum(record) != binary.LittleEndian.Uint32(text[4:]) {
		return nil
	}
	return record
}
