package filestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/graph"
)

// lockFolder holds two files for each thread that was ever locked: an empty file
// that is locked and never removed, since removing it would race with other
// lockers, and, while it is locked, one that names the holder. A locked file
// cannot be read by others on Windows, so the holder needs its own.
const lockFolder = "locks"

// Lock keeps others off a thread, in this process and in others on the machine,
// until release is called or the process ends. The thread need not exist. If
// another holds the lock, the error is graph.ErrBusy with pid, host and time.
// What Load returns to the holder is on disk.
func (s *Store) Lock(ctx context.Context, thread string) (release func() error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := filepath.Join(s.dir, lockFolder, filepath.Base(s.folder(thread)))
	release, free, err := s.lock(path)
	if err != nil {
		return nil, fmt.Errorf("locking thread %q in %s: %w", thread, s.dir, err)
	}
	if !free {
		return nil, fmt.Errorf("%w: %q, by %s (lock %s)", graph.ErrBusy, thread, s.holder(path), path)
	}
	if err := s.syncLeftovers(thread); err != nil {
		return nil, errors.Join(fmt.Errorf("locking thread %q in %s: %w", thread, s.dir, err), release())
	}
	return release, nil
}

// syncLeftovers syncs what earlier processes left of a thread, and closes its journal. A
// killed process may have written data that can be read but is not on disk, and
// the holder of the lock is about to act on it.
func (s *Store) syncLeftovers(thread string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.closeJournal(thread); err != nil {
		return err
	}
	folder := s.folder(thread)
	_, err := s.disk.IsDir(filepath.Join(folder, journalFile))
	switch {
	case err == nil:
		if _, err = s.openJournal(thread); errors.Is(err, errDamaged) {
			return nil // Load reports it; an abandoned thread can be removed
		}
	case errors.Is(err, fs.ErrNotExist):
		if err = s.disk.SyncDir(folder); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return err
}

func (s *Store) lock(path string) (release func() error, free bool, err error) {
	if err := s.makeRoot(); err != nil {
		return nil, false, err
	}
	if err := s.disk.Mkdir(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, false, err
	}
	unlock, free, err := s.disk.Lock(path + ".lock")
	if err != nil || !free {
		return nil, free, err
	}
	// not synced: after a crash of the machine the holder of a lock does not matter
	if err := s.write(path+".holder", func(File) error { return nil }, s.self()); err != nil {
		return nil, false, errors.Join(err, unlock())
	}
	return sync.OnceValue(func() error {
		return errors.Join(s.removeIfThere(path+".holder"), unlock())
	}), true, nil
}

func (s *Store) self() []byte {
	host, _ := os.Hostname()
	return fmt.Appendf(nil, "process %d on %s, since %s", os.Getpid(), cmp.Or(host, "a host without a name"),
		s.now().UTC().Format(time.RFC3339))
}

func (s *Store) holder(path string) string {
	who, err := s.disk.ReadFile(path + ".holder")
	if err != nil || len(who) == 0 {
		return "another process, which is just beginning or ending"
	}
	return string(who)
}
