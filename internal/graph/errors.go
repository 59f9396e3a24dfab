package graph

import (
	"errors"
	"fmt"
)

// The errors of a run that callers may want to tell apart.
var (
	ErrNoThread  = errors.New("no such thread")
	ErrBusy      = errors.New("thread is being run")
	ErrAnswered  = errors.New("gate was answered before")
	ErrNoGate    = errors.New("no gate waits")
	ErrWrongGate = errors.New("answer is not for a waiting gate")
	ErrAnswer    = errors.New("answer of the wrong type")
	ErrSnapshot  = errors.New("not a readable snapshot")
	ErrSeal      = fmt.Errorf("%w: its seal does not hold", ErrSnapshot)
	ErrEmptyFan  = errors.New("no payloads, and no branch declared for that")
	ErrDeadline  = errors.New("the deadline has passed")
)

// NodeError is the error of one task. Task is the index of its payload, 0 for
// nodes without payloads, and -1 if the error comes from the node's route, ask or
// decide function rather than from a task.
type NodeError struct {
	Node string
	Task int
	Err  error
}

// Error names the node and the task.
func (e *NodeError) Error() string {
	if e.Task < 0 {
		return fmt.Sprintf("node %q: %v", e.Node, e.Err)
	}
	return fmt.Sprintf("node %q, task %d: %v", e.Node, e.Task, e.Err)
}

// Unwrap returns the task's own error.
func (e *NodeError) Unwrap() error { return e.Err }

// PanicError is a recovered panic. Stack is meant for the debug log.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the panic's value without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// VersionError reports a snapshot of another graph, of another version, or of the
// same version with different fields or wiring.
type VersionError struct{ Thread, Have, Want string }

// Error names the stored graph and the one that is running.
func (e *VersionError) Error() string {
	return fmt.Sprintf("thread %q was saved by %s, this is %s", e.Thread, e.Have, e.Want)
}
