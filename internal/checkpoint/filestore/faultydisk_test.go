package filestore

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
)

// errDown is what everything says after a crash, until the restart.
var errDown = errors.New("the machine is down")

// faultyDisk is a file system in memory that knows what of it would survive a power
// failure: of a file what was synced, of a folder the names that were there when
// it was synced. Its methods may be called from several goroutines; each counts
// as one operation, and so does each call on an open file but Close.
type faultyDisk struct {
	mu      sync.Mutex
	root    *node
	pending []change // what was written since, oldest first
	locks   map[string]bool
	life    int // counts restarts; what was opened in an earlier life is dead
	down    bool

	ops  int
	plan plan
}

// plan is what befalls an operation: an error, or a crash where err is nil.
type plan struct {
	at      int // an operation's number, 0 for none
	err     error
	stay    bool
	outcome outcome
	seed    uint64
}

// node is a file or a folder: what processes see of it, and what is on disk.
type node struct {
	dir         bool
	data, disk  []byte
	names, held map[string]*node
}

// change is bytes appended to a file, or names of a folder set again, together;
// a nil node is a name that goes.
type change struct {
	node  *node
	at    int
	data  []byte
	names map[string]*node
}

// newFaultyDisk returns a disk with an empty root folder.
func newFaultyDisk() *faultyDisk { return &faultyDisk{root: newFolder(), locks: map[string]bool{}} }

func newFolder() *node {
	return &node{dir: true, names: map[string]*node{}, held: map[string]*node{}}
}

// Ops is how many operations there were.
func (d *faultyDisk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// Fail makes the n-th operation from now, 1 being the next, end with err, and
// all that follow where stay is set, until Mend. A write that fails has written
// the first half. After a sync that fails, what it was to bring to disk is still
// seen, and no later sync brings it there, as on Linux.
func (d *faultyDisk) Fail(n int, err error, stay bool) {
	d.set(plan{at: n, err: err, stay: stay})
}

// Crash makes the machine or the process go down in the midst of the n-th
// operation from now. What that leaves is drawn with the seed.
func (d *faultyDisk) Crash(n int, o outcome, seed uint64) {
	d.set(plan{at: n, outcome: o, seed: seed})
}

// Mend ends failures. Nothing is planned afterwards.
func (d *faultyDisk) Mend() { d.set(plan{}) }

func (d *faultyDisk) set(p plan) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.at > 0 {
		p.at += d.ops
	}
	d.plan = p
}

// Restart brings a disk up that went down. Locks are gone, open files dead.
func (d *faultyDisk) Restart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
	d.down, d.plan = false, plan{}
	clear(d.locks)
}

// do counts an operation and runs it, unless it is to fail. An operation during
// which all goes down was begun: what it left behind is for the outcome to say.
func (d *faultyDisk) do(life int, act func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down || life != d.life {
		return errDown
	}
	d.ops++
	due := d.plan.at > 0 && (d.ops == d.plan.at || d.plan.stay && d.ops > d.plan.at)
	switch {
	case !due:
		return act()
	case d.plan.err != nil:
		return d.plan.err
	}
	_ = act() // nobody lives to hear of it
	d.crash(d.plan.outcome, rand.New(rand.NewPCG(d.plan.seed, uint64(d.ops))))
	return errDown
}

// op is do for what is not done through an open file.
func (d *faultyDisk) op(name, path string, act func() error) error {
	d.mu.Lock()
	life := d.life
	d.mu.Unlock()
	if err := d.do(life, act); err != nil {
		return &fs.PathError{Op: name, Path: path, Err: err}
	}
	return nil
}

// change applies a change to what processes see, and notes it.
func (d *faultyDisk) change(c change) {
	d.pending = append(d.pending, c)
	c.node.data = append(c.node.data, c.data...)
	set(c.node.names, c.names)
}

func set(names, with map[string]*node) {
	for name, n := range with {
		if n == nil {
			delete(names, name)
			continue
		}
		names[name] = n
	}
}

// sync brings to disk what was changed of a node.
func (d *faultyDisk) sync(n *node) error {
	d.pending = slices.DeleteFunc(d.pending, func(c change) bool {
		if c.node == n {
			c.keep(0, len(c.data))
		}
		return c.node == n
	})
	return nil
}

// keep brings a change to disk, of a file's the bytes from one to another.
func (c change) keep(from, to int) {
	if c.names != nil {
		set(c.node.held, c.names)
		return
	}
	if short := c.at + to - len(c.node.disk); short > 0 {
		c.node.disk = append(c.node.disk, make([]byte, short)...)
	}
	copy(c.node.disk[c.at+from:], c.data[from:to])
}

type file struct {
	disk *faultyDisk
	node *node
	life int
}

func (f file) Write(b []byte) (n int, err error) {
	write := func(part []byte) {
		f.disk.change(change{node: f.node, at: len(f.node.data), data: slices.Clone(part)})
		n = len(part)
	}
	err = f.disk.do(f.life, func() error { write(b); return nil })
	if err != nil && err != errDown {
		f.disk.mu.Lock()
		defer f.disk.mu.Unlock()
		write(b[:len(b)/2])
	}
	return n, err
}

func (f file) Sync() error {
	err := f.disk.do(f.life, func() error { return f.disk.sync(f.node) })
	if err != nil && err != errDown {
		f.disk.mu.Lock()
		defer f.disk.mu.Unlock()
		f.disk.pending = slices.DeleteFunc(f.disk.pending, func(c change) bool { return c.node == f.node })
	}
	return err
}

func (f file) Close() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.down || f.life != f.disk.life {
		return errDown
	}
	return nil
}

// What disks say.
const (
	diskFull   = syscall.ENOSPC
	diskBroken = syscall.EIO
)
