// Package filestore keeps threads in a folder, with one subfolder for each that
// holds the graph's snapshot and the journal of the tasks finished since.
//
// It knows nothing about the contents of snapshots and records. What it has
// acknowledged survives a crash of the process or the machine. Hold a thread's
// lock when others might write to it. Folders are created by the first write or
// lock, for their owner only. Start reading at Store; journal.go defines the
// journal's format, folder.go the order of writes.
package filestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/graph"
)

// Store is a graph.Store over a folder. Its methods may be called concurrently.
// Its errors name the file but not the thread, which the caller knows. Close it
// after the last write.
type Store struct {
	dir  string
	disk Disk
	now  func() time.Time

	mu       sync.Mutex
	journals map[string]*journal // open journals, by thread
}

var _ graph.Store = (*Store)(nil)

// New opens the store in dir, which need not exist yet.
func New(dir string) (*Store, error) { return NewOn(osDisk{}, dir) }

// NewOn opens the store in a folder of the given file system.
func NewOn(disk Disk, dir string) (*Store, error) {
	if dir == "" {
		return nil, errors.New("the store's folder has no name")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening store: %w", err)
	}
	folder, err := disk.IsDir(dir)
	if err == nil && !folder {
		return nil, fmt.Errorf("opening store %s: it is a file, not a folder", dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening store: %w", err)
	}
	return &Store{dir: dir, disk: disk, now: time.Now, journals: map[string]*journal{}}, nil
}

// Where returns the absolute path of the store's folder.
func (s *Store) Where() string { return s.dir }

// Load reads a thread's snapshot and the complete records of its journal. It
// skips what a crash left of unacknowledged records. It returns graph.ErrSnapshot
// if an acknowledged record is damaged, and graph.ErrNoThread if the thread was
// never saved.
func (s *Store) Load(ctx context.Context, thread string) (graph.Saved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkSaved(ctx, thread); err != nil {
		return graph.Saved{}, err
	}
	folder := s.folder(thread)
	snapshot, err := s.disk.ReadFile(filepath.Join(folder, snapshotFile))
	if err != nil {
		return graph.Saved{}, err
	}
	text, whole, err := s.readJournal(folder)
	if err != nil {
		return graph.Saved{}, err
	}
	return graph.Saved{Snapshot: snapshot, Journal: slices.Collect(records(text[:whole]))}, nil
}

// Save replaces a thread's snapshot, then drops its journal. A crash leaves the
// old snapshot or the new one, and possibly the journal.
func (s *Store) Save(ctx context.Context, thread string, snapshot ...[]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	folder := s.folder(thread)
	if err := s.makeFolder(thread, folder); err != nil {
		return err
	}
	if err := s.replace(filepath.Join(folder, snapshotFile), snapshot...); err != nil {
		return err
	}
	if err := s.closeJournal(thread); err != nil {
		return err
	}
	return s.removeIfThere(filepath.Join(folder, journalFile))
}

// Append adds a record to the journal of a saved thread; it is on disk when
// Append returns. After an error the record may or may not be kept, but earlier
// ones are. What a failed write or sync left is written again, once.
func (s *Store) Append(ctx context.Context, thread string, record ...[]byte) error {
	j, err := s.journal(ctx, thread)
	if err != nil {
		return err
	}
	if err = j.append(record...); err == nil || !j.failed() {
		return err
	}
	again, failed := s.reopen(ctx, thread, j)
	if failed != nil {
		return errors.Join(err, failed)
	}
	if s.holds(thread, slices.Concat(record...)) {
		return nil // it had been written, and opening the journal has synced it
	}
	return again.append(record...)
}

func (s *Store) holds(thread string, record []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, whole, err := s.readJournal(s.folder(thread))
	for r := range records(text[:whole]) {
		if err == nil && bytes.Equal(r, record) {
			return true
		}
	}
	return false
}

// reopen opens a thread's journal again unless another caller did so since it failed.
func (s *Store) reopen(ctx context.Context, thread string, failed *journal) (*journal, error) {
	s.mu.Lock()
	if s.journals[thread] == failed {
		_ = s.closeJournal(thread) // what it wrote is read, and written again
	}
	s.mu.Unlock()
	return s.journal(ctx, thread)
}

func (s *Store) journal(ctx context.Context, thread string) (*journal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkSaved(ctx, thread); err != nil {
		return nil, err
	}
	if j := s.journals[thread]; j != nil {
		return j, nil
	}
	return s.openJournal(thread)
}

func (s *Store) closeJournal(thread string) error {
	j := s.journals[thread]
	if j == nil {
		return nil
	}
	delete(s.journals, thread)
	return j.close()
}

// checkSaved returns graph.ErrNoThread for a thread that was never saved.
func (s *Store) checkSaved(ctx context.Context, thread string) error {
	if err := ctx.Err(); err != nil || s.journals[thread] != nil {
		return err
	}
	folder := s.folder(thread)
	err := s.checkOwner(folder, thread)
	if err == nil {
		_, err = s.disk.IsDir(filepath.Join(folder, snapshotFile))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %q in %s", graph.ErrNoThread, thread, s.dir)
	}
	return err
}

// Remove deletes a thread but not its lock. Removing a thread that does not exist
// is not an error.
func (s *Store) Remove(ctx context.Context, thread string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	folder := s.folder(thread)
	if _, err := s.disk.IsDir(folder); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.closeJournal(thread); err != nil {
		return err
	}
	if err := s.empty(folder); err != nil {
		return err
	}
	return s.disk.Remove(folder)
}

// Threads returns the ids of the saved threads, sorted.
func (s *Store) Threads(ctx context.Context) ([]string, error) {
	names, err := s.disk.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading store: %w", err)
	}
	var threads []string
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id, err := s.disk.ReadFile(filepath.Join(s.dir, name, threadFile))
		if err != nil || filepath.Base(s.folder(string(id))) != name {
			continue // not a folder of ours
		}
		if _, err := s.disk.IsDir(filepath.Join(s.dir, name, snapshotFile)); err == nil {
			threads = append(threads, string(id))
		}
	}
	slices.Sort(threads)
	return threads, nil
}

// Close closes the open journals. Acknowledged records are on disk already.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, j := range s.journals {
		errs = append(errs, j.close())
	}
	clear(s.journals)
	return errors.Join(errs...)
}
