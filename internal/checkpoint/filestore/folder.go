package filestore

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// The files of a thread's folder.
const (
	threadFile   = "thread" // the thread's id
	snapshotFile = "snapshot.json"
	journalFile  = "journal"
)

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

// owned is an error that is fs.ErrNotExist where the folder is not there, and
// another one where it is another thread's.
func (s *Store) owned(folder, thread string) error {
	id, err := s.disk.ReadFile(filepath.Join(folder, threadFile))
	if err == nil && string(id) != thread {
		err = fmt.Errorf("%s belongs to thread %q", folder, id)
	}
	return err
}

// make makes a thread's folder once. The file with the id comes last: a folder
// with it is whole, and what stands in one without it is left from a thread
// that was removed.
func (s *Store) make(thread, folder string) error {
	if err := s.owned(folder, thread); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.makeRoot(); err != nil {
		return err
	}
	err := s.disk.Mkdir(folder)
	if errors.Is(err, fs.ErrExist) {
		err = s.empty(folder)
	}
	if err != nil {
		return err
	}
	if err := s.disk.SyncDir(s.dir); err != nil {
		return err
	}
	return s.replace(filepath.Join(folder, threadFile), []byte(thread))
}

// makeRoot makes the store's folder, and those above it that are missing. The
// lowest that is there may have been made by a process that was killed before it
// could sync; one that may not be read is not ours.
func (s *Store) makeRoot() error {
	var missing []string
	level := s.dir
	for {
		_, err := s.disk.IsDir(level)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(level) == level {
			return err
		}
		missing = append(missing, level)
		level = filepath.Dir(level)
	}
	if err := s.disk.SyncDir(filepath.Dir(level)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	for _, level := range slices.Backward(missing) {
		if err := s.disk.Mkdir(level); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := s.disk.SyncDir(filepath.Dir(level)); err != nil {
			return err
		}
	}
	return nil
}

// empty removes what is in a thread's folder. The id goes first and for good:
// a journal that a crash brought back must not be taken for a new thread's.
func (s *Store) empty(folder string) error {
	if err := s.removeIfThere(filepath.Join(folder, threadFile)); err != nil {
		return err
	}
	if err := s.disk.SyncDir(folder); err != nil {
		return err
	}
	names, err := s.disk.ReadDir(folder)
	for _, name := range names {
		err = errors.Join(err, s.disk.Remove(filepath.Join(folder, name)))
	}
	return errors.Join(err, s.disk.SyncDir(folder))
}

// replace gives path new content such that a crash leaves the old content or
// the new one whole, and that the new one is on disk when replace returns.
func (s *Store) replace(path string, content ...[]byte) error {
	temp := path + ".new"
	err := s.write(temp, File.Sync, content...)
	if err == nil {
		err = s.disk.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, s.removeIfThere(temp))
	}
	return s.disk.SyncDir(filepath.Dir(path))
}

// write makes a file anew.
func (s *Store) write(path string, sync func(File) error, content ...[]byte) error {
	if err := s.removeIfThere(path); err != nil {
		return err
	}
	f, err := s.disk.Open(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, part := range content {
		_, _ = w.Write(part) // an error of the writer stays
	}
	if err = w.Flush(); err == nil {
		err = sync(f)
	}
	return errors.Join(err, f.Close())
}

func (s *Store) removeIfThere(path string) error {
	err := s.disk.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Default is where threads are kept where --store names nothing:
// PR_REVIEW_STORE as it is, which may be another store's address, else the folder
// pr-review under XDG_STATE_HOME, else under the platform's folder for such state.
func Default(getenv func(string) string) (string, error) {
	if dir := getenv("PR_REVIEW_STORE"); dir != "" {
		return dir, nil
	}
	at, missing := UserFolder(getenv, "XDG_STATE_HOME", ".local/state", "Library/Application Support")
	if at == "" {
		return "", fmt.Errorf("there is no folder to keep drafts in: %s is not set\n"+
			"  next    name one: --store DIR, or PR_REVIEW_STORE", missing)
	}
	return at, nil
}

// UserFolder is the folder pr-review under the one that xdg names, else under the platform's for
// such files: unix or mac in the user's home. Where there is none, it names what is not set.
func UserFolder(getenv func(string) string, xdg, unix, mac string) (dir, missing string) {
	if at := getenv(xdg); filepath.IsAbs(at) {
		return filepath.Join(at, "pr-review"), ""
	}
	base, under := "HOME", unix
	switch runtime.GOOS {
	case "windows":
		base, under = "LocalAppData", ""
	case "darwin":
		under = mac
	}
	if at := getenv(base); filepath.IsAbs(at) {
		return filepath.Join(at, filepath.FromSlash(under), "pr-review"), ""
	}
	return "", base
}
