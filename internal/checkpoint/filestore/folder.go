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

	"github.com/org/pr-review-action/internal/problem"
)

// The files of a thread's folder.
const (
	threadFile   = "thread" // the thread's id
	snapshotFile = "snapshot.json"
	journalFile  = "journal"
)

// folder returns the path of a thread's folder: the readable part of its id, and
// a hash that distinguishes ids with the same readable part.
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

// checkOwner returns an error that is fs.ErrNotExist if the folder does not exist, and
// another error if it belongs to a different thread.
func (s *Store) checkOwner(folder, thread string) error {
	id, err := s.disk.ReadFile(filepath.Join(folder, threadFile))
	if err == nil && string(id) != thread {
		err = problem.New(fmt.Sprintf("%s belongs to thread %q", folder, id), "",
			"remove that folder if its file \"thread\" is damaged, or name another with --store")
	}
	return err
}

// makeFolder creates a thread's folder if needed. It writes the file with the id last:
// a folder that has the id is complete, and the contents of one without it are
// left over from a removed thread.
func (s *Store) makeFolder(thread, folder string) error {
	if err := s.checkOwner(folder, thread); !errors.Is(err, fs.ErrNotExist) {
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

// makeRoot creates the store's folder and its missing parents. It also syncs the
// lowest existing one, which a process that was killed may have created without
// syncing; one that may not be read is not ours.
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

// empty removes the contents of a thread's folder. It first removes the id durably,
// so that a journal that reappears after a crash is not taken for a new thread's.
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

// replace replaces a file's content atomically: a crash leaves the whole old or
// the whole new content, and the new content is on disk when replace returns.
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

// write writes a new file in place of an existing one.
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
		_, _ = w.Write(part) // the writer keeps its error for Flush
	}
	if err = w.Flush(); err == nil {
		err = sync(f)
	}
	return errors.Join(err, f.Close())
}

func (s *Store) removeIfThere(path string) error {
	if err := s.disk.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Default returns where threads are stored if no store is named: the folder pr-review under
// XDG_STATE_HOME, otherwise under the platform's folder for application state.
func Default(getenv func(string) string) (string, error) {
	at, missing := UserFolder(getenv, "XDG_STATE_HOME", ".local/state", "Library/Application Support")
	if at == "" {
		return "", problem.Usage("there is no folder to keep drafts in: "+missing+" is not set",
			"name one: --store DIR, or PR_REVIEW_STORE")
	}
	return at, nil
}

// UserFolder returns the folder pr-review under the one in the variable xdg, otherwise under unix or mac
// in the user's home, as the platform has it. If there is none, missing names the unset variable.
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
