package filestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// file is what the store needs of an open file; tests make it fail.
type file interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
	Sync() error
	Close() error
}

func openFile(path string) (file, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

// replace gives path new content such that a crash leaves the old content or
// the new one whole, and that the new one is on disk when replace returns.
func (s *Store) replace(path string, content []byte) error {
	temp := path + ".new"
	if err := s.write(temp, content); err != nil {
		return errors.Join(err, removeIfThere(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func (s *Store) write(path string, content []byte) error {
	f, err := s.open(path)
	if err != nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.Write(content)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func removeIfThere(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// syncFolder makes renames and new files in a folder durable. Windows has no
// such call.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Default is the folder that keeps threads where none is named:
// PR_REVIEW_STORE, else pr-review under XDG_STATE_HOME, else under the
// platform's folder for such state.
func Default(getenv func(string) string) (string, error) {
	if dir := getenv("PR_REVIEW_STORE"); dir != "" {
		return dir, nil
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pr-review"), nil
	}
	base, under := "HOME", filepath.Join(".local", "state")
	switch runtime.GOOS {
	case "windows":
		base, under = "LocalAppData", ""
	case "darwin":
		under = filepath.Join("Library", "Application Support")
	}
	if dir := getenv(base); filepath.IsAbs(dir) {
		return filepath.Join(dir, under, "pr-review"), nil
	}
	return "", fmt.Errorf("there is no folder to keep drafts in: %s is not set\n  next    name one: --store DIR, or PR_REVIEW_STORE", base)
}
