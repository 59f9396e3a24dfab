// Package faulttest is the outside world at its worst, for tests: a disk that
// fails or goes down at the n-th operation.
//
// It decides nothing by chance that a seed does not repeat, and checks nothing:
// that is up to the tests. Start reading at Disk.
package faulttest

import "errors"

// ErrDown is what everything says after a crash, until the restart.
var ErrDown = errors.New("the machine is down")
