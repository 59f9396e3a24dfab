package graph

import (
	"reflect"
	"slices"
	"time"
)

// WithDeadline sets a time at which long work ends, so that what was finished can
// still be merged, presented at a gate and packed. Tasks of an Each with Unreached
// are cancelled with the cause ErrDeadline, and the run continues; nodes after such
// an Each or after a gate have no deadline. Any other running node stops the run
// with ErrDeadline, and the run can be continued. The zero time means no deadline.
func WithDeadline(at time.Time) RunOption { return func(o *runOptions) { o.deadline = at } }

// Unreached sets the update for tasks of an Each that time or budget left out:
// those that were not started, or were cancelled before they finished. Such tasks
// count as done.
func Unreached[P any](policy func(payload P) Update) Option {
	return func(s *settings) {
		s.unreachedOf = reflect.TypeFor[P]()
		s.unreached = func(payload any) (Update, error) { return policy(payload.(P)), nil }
	}
}

// OutOfBudget marks the error of a task that stopped because the budget is used
// up. In an Each with Unreached no more tasks are then started, running siblings
// finish, and Unreached supplies the updates of this task and the rest; elsewhere
// it is an ordinary error. A nil error stays nil.
func OutOfBudget(err error) error {
	if err == nil {
		return nil
	}
	return &budgetError{err}
}

type budgetError struct{ error }

func (e *budgetError) Unwrap() error { return e.error }

// setLimits marks the nodes that the deadline applies to: those with a fan with
// Unreached still ahead of the next gate, or every node if there is no such fan.
func (s *shape) setLimits() {
	cuts := slices.ContainsFunc(s.nodes, func(n *nodeDef) bool { return n.unreached != nil })
	for _, n := range s.nodes {
		n.limited = !cuts || s.fanAhead(n, map[string]bool{})
	}
}

func (s *shape) fanAhead(n *nodeDef, seen map[string]bool) bool {
	if n.unreached != nil {
		return true
	}
	seen[n.name] = true
	for _, t := range n.leadsTo() {
		if t.kind != kindEnd && t.kind != kindGate && !seen[t.name] && s.fanAhead(s.node(t.name), seen) {
			return true
		}
	}
	return false
}
