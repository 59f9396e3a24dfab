// Package filestore keeps threads in a folder: one subfolder for each, with
// the graph's snapshot and the journal of the tasks finished since.
//
// It knows nothing of what snapshots and records hold, and it takes no lock
// against other processes. Folders are made with the first write, for their
// owner alone. Start reading at Store; journal.go has the journal's form.
package filestore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/graph"
)

// The files of a thread's folder.
const (
	threadFile   = "thread" // the thread's id
	snapshotFile = "snapshot.json"
	journalFile  = "journal"
)

// Store is a graph.Store over a folder. Its methods may be called from several
// goroutines; their errors name the file, the caller knows the thread. Close it
// when no more is written.
type Store struct {
	dir string

	mu       sync.Mutex
	journals map[string]*journal // open ones, by thread
	open     func(path string) (file, error)
}

var _ graph.Store = (*Store)(nil)

// New opens the store in dir, which need not exist yet.
func New(dir string) (*Store, error) {
	if dir == "" {
		return nil, errors.New("the store's folder has no name")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening store: %w", err)
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("opening store %s: it is a file, not a folder", dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening store: %w", err)
	}
	return &Store{dir: dir, journals: map[string]*journal{}, open: openFile}, nil
}

// Dir is the store's folder, absolute.
func (s *Store) Dir() string { return s.dir }

// Load reads a thread's snapshot and the whole records of its journal. A
// journal torn at its end is read up to there; graph.ErrSnapshot where it is
// damaged elsewhere, graph.ErrNoThread where the thread was never saved.
func (s *Store) Load(ctx context.Context, thread string) (graph.Saved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(ctx, thread); err != nil {
		return graph.Saved{}, err
	}
	folder := s.folder(thread)
	snapshot, err := os.ReadFile(filepath.Join(folder, snapshotFile))
	if err != nil {
		return graph.Saved{}, err
	}
	path := filepath.Join(folder, journalFile)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return graph.Saved{}, err
	}
	records, _, err := recordsOf(text)
	if err != nil {
		return graph.Saved{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return graph.Saved{Snapshot: snapshot, Journal: records}, nil
}

// Save replaces a thread's snapshot, then drops its journal. After a crash
// there is the old snapshot or the new one, and the journal may be left.
func (s *Store) Save(ctx context.Context, thread string, snapshot []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	folder := s.folder(thread)
	if err := s.make(thread, folder); err != nil {
		return err
	}
	if err := s.replace(filepath.Join(folder, snapshotFile), snapshot); err != nil {
		return err
	}
	if err := s.closeJournal(thread); err != nil {
		return err
	}
	return removeIfThere(filepath.Join(folder, journalFile))
}

// Remove forgets a thread. One that is not there is no error.
func (s *Store) Remove(ctx context.Context, thread string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(s.closeJournal(thread), os.RemoveAll(s.folder(thread)))
}

func (s *Store) closeJournal(thread string) error {
	j := s.journals[thread]
	if j == nil {
		return nil
	}
	delete(s.journals, thread)
	return j.close()
}

// make makes a thread's folder once. The file with the id comes last, so that
// a folder with it is whole.
func (s *Store) make(thread, folder string) error {
	if err := owned(folder, thread); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := syncFolder(s.dir); err != nil {
		return err
	}
	return s.replace(filepath.Join(folder, threadFile), []byte(thread))
}

// Append adds a record to the journal of a thread that was saved; it is on
// disk when Append returns. After an error the record may or may not be kept,
// earlier ones are.
func (s *Store) Append(ctx context.Context, thread string, record []byte) error {
	j, err := s.journal(ctx, thread)
	if err != nil {
		return err
	}
	return j.append(record)
}

func (s *Store) journal(ctx context.Context, thread string) (*journal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(ctx, thread); err != nil {
		return nil, err
	}
	if j := s.journals[thread]; j != nil {
		return j, nil
	}
	path := filepath.Join(s.folder(thread), journalFile)
	f, err := s.open(path)
	if err != nil {
		return nil, err
	}
	j, err := newJournal(f)
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), f.Close())
	}
	s.journals[thread] = j
	return j, nil
}

// check is graph.ErrNoThread for a thread that was never saved.
func (s *Store) check(ctx context.Context, thread string) error {
	if err := ctx.Err(); err != nil || s.journals[thread] != nil {
		return err
	}
	folder := s.folder(thread)
	err := owned(folder, thread)
	if err == nil {
		_, err = os.Stat(filepath.Join(folder, snapshotFile))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %q in %s", graph.ErrNoThread, thread, s.dir)
	}
	return err
}

// owned is an error that is fs.ErrNotExist where the folder is not there, and
// another one where it is another thread's.
func owned(folder, thread string) error {
	id, err := os.ReadFile(filepath.Join(folder, threadFile))
	if err == nil && string(id) != thread {
		err = fmt.Errorf("%s belongs to thread %q", folder, id)
	}
	return err
}

// Threads lists the ids of the saved threads, sorted.
func (s *Store) Threads(ctx context.Context) ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading store: %w", err)
	}
	var threads []string
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id, err := os.ReadFile(filepath.Join(s.dir, e.Name(), threadFile))
		if err != nil || filepath.Base(s.folder(string(id))) != e.Name() {
			continue // not a folder of ours
		}
		if _, err := os.Stat(filepath.Join(s.dir, e.Name(), snapshotFile)); err == nil {
			threads = append(threads, string(id))
		}
	}
	slices.Sort(threads)
	return threads, nil
}

// Close closes the open journals. What was acknowledged is on disk already.
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

// folder is where a thread lives: what can be read of its id, and a hash that
// keeps ids apart whose readable parts are equal.
func (s *Store) folder(thread string) string {
	readable := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, thread)
	sum := sha256.Sum256([]byte(thread))
	return filepath.Join(s.dir, fmt.Sprintf("%.60s-%x", readable, sum[:8]))
}
