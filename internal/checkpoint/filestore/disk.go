package filestore

import (
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/gofrs/flock"
)

// Disk is the file system as the store uses it. Every read and write goes through
// it, so that tests can make each of them fail. Errors must be those of
// package os, since the store checks for fs.ErrNotExist, fs.ErrExist and fs.ErrPermission.
type Disk interface {
	// Open opens a file for appending, and creates it with access for its owner only if
	// it does not exist.
	Open(path string) (File, error)
	ReadFile(path string) ([]byte, error)
	ReadDir(path string) (names []string, err error)
	IsDir(path string) (bool, error)
	Mkdir(path string) error
	Rename(from, to string) error
	// Remove removes a file or an empty folder.
	Remove(path string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(path string) error
	// Lock locks a file, which it creates if needed, until unlock is called or the
	// process ends. free is false if another process holds the lock.
	Lock(path string) (unlock func() error, free bool, err error)
}

// File is an open file. It is an alias, so that implementations of Disk need not
// import this package.
type File = interface {
	io.WriteCloser
	Sync() error
}

type osDisk struct{}

func (osDisk) Open(path string) (File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}

func (osDisk) ReadFile(path string) ([]byte, error) { return os.ReadFile(path) }

func (osDisk) ReadDir(path string) (names []string, err error) {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (osDisk) IsDir(path string) (bool, error) {
	info, err := os.Stat(path)
	return err == nil && info.IsDir(), err
}

func (osDisk) Mkdir(path string) error      { return os.Mkdir(path, 0o700) }
func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }
func (osDisk) Remove(path string) error     { return os.Remove(path) }

// SyncDir does nothing on Windows, which has no such call.
func (osDisk) SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Lock opens the file for writing too, because locks over NFS require that.
func (osDisk) Lock(path string) (unlock func() error, free bool, err error) {
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR))
	free, err = lock.TryLock()
	return lock.Unlock, free, err
}
