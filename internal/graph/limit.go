package graph

import (
	"reflect"
	"slices"
	"time"
)

// WithDeadline ends at a time what may take long, so that what is there can
// still be merged, asked and packed. Tasks of an Each with Unreached are
// cancelled with the cause ErrDeadline, and the run goes on; what follows such an
// Each, or a gate, has no deadline. Another node that is under way stops the run
// with ErrDeadline; it can be continued. The zero time is none.
func WithDeadline(at time.Time) RunOption { return func(o *runOptions) { o.deadline = at } }

// Unreached gives the update that stands for a task of an Each that time or
// budget left out: one that was not started, or did not finish before it was
// cancelled. Such tasks count as done.
func Unreached[P any](policy func(payload P) Update) Option {
	return func(s *settings) {
		s.unreachedOf = reflect.TypeFor[P]()
		s.unreached = func(payload any) (Update, error) { return policy(payload.(P)), nil }
	}
}

// OutOfBudget marks the error of a task that could not go on because the budget is
// gone. In an Each with Unreached nothing more is started then, siblings under
// way finish, and Unreached stands for this task and the rest; elsewhere it is
// an error like others. A nil error stays nil.
func OutOfBudget(err error) error {
	if err == nil {
		return nil
	}
	return &budgetError{err}
}

type budgetError struct{ error }

func (e *budgetError) Unwrap() error { return e.error }

// setLimits marks the nodes that the deadline holds for: those from which a fan
// with Unreached is still to come before a gate, or all if there is none.
func (s *shape) setLimits() {
	cuts := slices.ContainsFunc(s.nodes, func(n *nodeDef) bool { return n.unreached != nil })
	for _, n := range s.nodes {
		n.limited = !cuts || s.cutAhead(n, map[string]bool{})
	}
}

func (s *shape) cutAhead(n *nodeDef, seen map[string]bool) bool {
	if n.unreached != nil {
		return true
	}
	seen[n.name] = true
	for _, t := range n.leadsTo() {
		if t.kind != kindEnd && t.kind != kindGate && !seen[t.name] && s.cutAhead(s.node(t.name), seen) {
			return true
		}
	}
	return false
}
