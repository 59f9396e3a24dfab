package filestore

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// find walks to a path. Parent is there where the node may be missing alone.
func (d *faultyDisk) find(path string) (parent *node, base string, n *node, err error) {
	path = filepath.ToSlash(filepath.Clean(path[len(filepath.VolumeName(path)):]))
	n = d.root
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			continue
		}
		if n == nil {
			return nil, "", nil, fs.ErrNotExist
		}
		if !n.dir {
			return nil, "", nil, syscall.ENOTDIR
		}
		parent, base, n = n, name, n.names[name]
	}
	if n == nil {
		err = fs.ErrNotExist
	}
	return parent, base, n, err
}

// Open opens a file to append to it; one that is not there is made.
func (d *faultyDisk) Open(path string) (f File, err error) {
	err = d.op("open", path, func() error {
		parent, base, n, err := d.find(path)
		switch {
		case parent == nil && err != nil:
			return err
		case n == nil:
			n = &node{}
			d.change(change{node: parent, names: map[string]*node{base: n}})
		case n.dir:
			return syscall.EISDIR
		}
		f = file{d, n, d.life}
		return nil
	})
	return f, err
}

// ReadFile returns a copy of what a process sees.
func (d *faultyDisk) ReadFile(path string) (data []byte, err error) {
	err = d.op("read", path, func() error {
		_, _, n, err := d.find(path)
		if err == nil && n.dir {
			err = syscall.EISDIR
		}
		if err == nil {
			data = slices.Clone(n.data)
		}
		return err
	})
	return data, err
}

// ReadDir lists a folder's names, sorted.
func (d *faultyDisk) ReadDir(path string) (names []string, err error) {
	err = d.op("readdir", path, func() error {
		n, err := d.folder(path)
		if err == nil {
			names = slices.Sorted(maps.Keys(n.names))
		}
		return err
	})
	return names, err
}

func (d *faultyDisk) folder(path string) (*node, error) {
	_, _, n, err := d.find(path)
	if err == nil && !n.dir {
		err = syscall.ENOTDIR
	}
	return n, err
}

// IsDir reports whether a folder is at a path; nothing there is fs.ErrNotExist.
func (d *faultyDisk) IsDir(path string) (folder bool, err error) {
	err = d.op("stat", path, func() error {
		_, _, n, err := d.find(path)
		folder = err == nil && n.dir
		return err
	})
	return folder, err
}

// Mkdir makes one folder.
func (d *faultyDisk) Mkdir(path string) error {
	return d.op("mkdir", path, func() error {
		parent, base, n, err := d.find(path)
		switch {
		case n != nil:
			return fs.ErrExist
		case parent == nil:
			return err
		}
		d.change(change{node: parent, names: map[string]*node{base: newFolder()}})
		return nil
	})
}

// Rename moves a file within its folder, over another one if need be.
func (d *faultyDisk) Rename(from, to string) error {
	return d.op("rename", from, func() error {
		parent, base, n, err := d.find(from)
		if err != nil {
			return err
		}
		other, target, over, err := d.find(to)
		switch {
		case other == nil:
			return err
		case other != parent:
			return syscall.EXDEV // nobody needs it
		case over != nil && over.dir:
			return fs.ErrExist
		}
		d.change(change{node: parent, names: map[string]*node{base: nil, target: n}})
		return nil
	})
}

// Remove removes a file or an empty folder.
func (d *faultyDisk) Remove(path string) error {
	return d.op("remove", path, func() error {
		parent, base, n, err := d.find(path)
		switch {
		case err != nil:
			return err
		case n.dir && len(n.names) > 0:
			return syscall.ENOTEMPTY
		}
		d.change(change{node: parent, names: map[string]*node{base: nil}})
		return nil
	})
}

// SyncDir makes durable which names a folder has.
func (d *faultyDisk) SyncDir(path string) error {
	return d.op("syncdir", path, func() error {
		n, err := d.folder(path)
		if err != nil {
			return err
		}
		return d.sync(n)
	})
}

// Lock takes a lock, until unlock is called or the disk goes down.
func (d *faultyDisk) Lock(path string) (unlock func() error, free bool, err error) {
	err = d.op("lock", path, func() error {
		if free = !d.locks[path]; free {
			d.locks[path] = true
			unlock = d.unlocker(path, d.life)
		}
		return nil
	})
	return unlock, free, err
}

func (d *faultyDisk) unlocker(path string, life int) func() error {
	return func() error {
		return d.do(life, func() error {
			delete(d.locks, path)
			return nil
		})
	}
}
