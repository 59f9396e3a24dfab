package graph

import (
	"errors"
	"fmt"
)

// The errors of running that a caller may want to tell apart.
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

// NodeError is the error of one task. Task is its payload's index, 0 for nodes
// without payloads, and -1 where the error is not of a task but of the node's
// route, ask or decide function.
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

// PanicError is a panic that became an error. Stack is for the debug log.
type PanicError struct {
	Value any
	Stack []byte
}

// Error gives the panic's value without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// VersionError is a snapshot of another graph, another version of it, or other
// fields and wiring under the same version.
type VersionError struct{ Thread, Have, Want string }

// Error names what the store has and what the program runs.
func (e *VersionError) Error() string {
	return fmt.Sprintf("thread %q was saved by %s, this is %s", e.Thread, e.Have, e.Want)
}
