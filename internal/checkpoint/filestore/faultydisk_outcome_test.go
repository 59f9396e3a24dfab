package filestore

import (
	"maps"
	"math/rand/v2"
)

// outcome is what a crash leaves.
type outcome int

// The outcomes. All but killed are power failures, after which what was synced
// is there and the rest may be.
const (
	killed  outcome = iota // the process alone: all it wrote is seen, and not yet on disk
	lost                   // nothing that was not synced is left
	ordered                // the writes up to some point are left, the last of them torn
	holes                  // any page of any write, any name of any folder is left; others are zeros or garbage
	outcomes
)

// allOutcomes lists them all.
func allOutcomes() (list []outcome) {
	for o := range outcomes {
		list = append(list, o)
	}
	return list
}

// String names the outcome.
func (o outcome) String() string { return [...]string{"killed", "lost", "ordered", "holes"}[o] }

// pageSize is small, so that small writes are torn too.
const pageSize = 16

func (d *faultyDisk) crash(o outcome, random *rand.Rand) {
	d.down = true
	switch o {
	case killed:
		return
	case ordered:
		d.keepSome(random)
	case holes:
		for _, c := range d.pending {
			c.scatter(random)
		}
	}
	d.pending = nil
	d.root.reread(map[*node]bool{})
}

func (d *faultyDisk) keepSome(random *rand.Rand) {
	n := random.IntN(len(d.pending) + 1)
	for i, c := range d.pending[:n] {
		to := len(c.data)
		if i == n-1 {
			to = random.IntN(to + 1)
		}
		c.keep(0, to)
	}
}

// scatter brings some of a change to disk.
func (c change) scatter(random *rand.Rand) {
	if c.names != nil {
		if random.IntN(2) == 0 {
			c.keep(0, 0)
		}
		return
	}
	for from := 0; from < len(c.data); from += pageSize {
		to := min(from+pageSize, len(c.data))
		switch page := c.data[from:to]; random.IntN(4) {
		case 0: // the file may be longer anyway
		case 1:
			garbage := change{node: c.node, at: c.at, data: make([]byte, to)}
			for i := range page {
				garbage.data[from+i] = byte(random.Uint32())
			}
			garbage.keep(from, to)
		case 2:
			change{node: c.node, at: c.at, data: make([]byte, to)}.keep(from, to)
		default:
			c.keep(from, to)
		}
	}
}

// reread makes processes see what is on disk.
func (n *node) reread(seen map[*node]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	n.data = append([]byte(nil), n.disk...)
	n.names = maps.Clone(n.held)
	for _, child := range n.names {
		child.reread(seen)
	}
}
