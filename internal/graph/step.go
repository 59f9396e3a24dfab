package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// drive runs supersteps until the thread pauses or ends.
func (f *flow) drive(ctx context.Context, t *thread) error {
	for t.status() == Running {
		if err := f.superstep(ctx, t); err != nil {
			return err
		}
	}
	if t.status() == Ended {
		f.emit(Event{Kind: RunEnded, Node: t.end})
	}
	for _, p := range t.waiting() {
		f.emit(Event{Kind: GateReached, Node: p.Gate})
	}
	return nil
}

// superstep runs the missing tasks of the current step and, unless a gate waits,
// merges it and schedules the next. It saves a snapshot only if the next step has
// a gate: until then the journal is complete, and the rest is recomputed on
// loading. If it returns an error, the store still holds the current step.
func (f *flow) superstep(ctx context.Context, t *thread) error {
	if t.step() > f.stepCap {
		return fmt.Errorf("more than %d steps: %s", f.stepCap, strings.Join(t.path(), " → "))
	}
	if err := f.compute(ctx, t); err != nil {
		return err
	}
	if len(t.waiting()) > 0 {
		return nil
	}
	next, err := f.nextStep(t)
	if err != nil {
		return err
	}
	if len(next.pending) > 0 {
		if err := f.save(ctx, next); err != nil {
			return err
		}
	}
	*t = *next
	return nil
}

// nextStep merges the superstep under way, which must be complete, and schedules
// the next.
func (f *flow) nextStep(t *thread) (*thread, error) {
	next := *t
	next.state, next.raw = f.clone(t.state), slices.Clone(t.raw)
	if err := f.mergeAll(&next); err != nil {
		return nil, err
	}
	return &next, f.advance(&next)
}

// compute runs the tasks that have no result yet, all nodes in parallel, and
// returns when every task has ended.
func (f *flow) compute(ctx context.Context, t *thread) error {
	limited := ctx // for nodes that the deadline applies to
	if !f.deadline.IsZero() {
		var stop context.CancelFunc
		limited, stop = context.WithDeadlineCause(ctx, f.deadline, ErrDeadline)
		defer stop()
	}
	var broken atomic.Bool
	var nodes sync.WaitGroup
	for _, e := range t.frontier {
		if e.node.kind != kindGate && e.done() < len(e.results) {
			n := &nodeRun{entry: e, flow: f, thread: t, stop: ctx, ctx: ctx, broken: &broken, ended: e.done()}
			if e.node.limited {
				n.ctx = limited
			}
			if e.node.limited && e.node.unreached == nil {
				n.stop = limited
			}
			nodes.Go(n.run)
		}
	}
	nodes.Wait()
	return t.failures()
}

// failures joins the errors of the step in task order: the first ten in full, the
// rest as a count.
func (t *thread) failures() error {
	const shown = 10
	var errs []error
	var stopped error
	for _, e := range t.frontier {
		stopped = cmp.Or(stopped, e.stopped)
		for _, r := range e.results {
			if r.err != nil {
				errs = append(errs, r.err)
			}
		}
	}
	if more := len(errs) - shown; more > 0 {
		errs = append(errs[:shown], fmt.Errorf("%d more tasks failed", more))
	}
	if stopped != nil {
		done, total := t.tasks()
		errs = append(errs, fmt.Errorf("step %d (%s) stopped with %d of %d tasks done: %w",
			t.step(), strings.Join(t.nextNodes(), "+"), done, total, stopped))
	}
	return errors.Join(errs...)
}

// nextNodes returns the names of the nodes of the superstep under way.
func (t *thread) nextNodes() []string {
	var names []string
	for _, e := range t.frontier {
		names = append(names, e.node.name)
	}
	return names
}

// path returns the nodes of each superstep taken and of the next one.
func (t *thread) path() []string {
	var path []string
	for i, s := range t.steps {
		if i > 0 && t.steps[i-1].Step == s.Step {
			path[len(path)-1] += "+" + s.Node
			continue
		}
		path = append(path, s.Node)
	}
	return append(path, strings.Join(t.nextNodes(), "+"))
}

// mergeAll applies the step's updates to the state in task order, and adds the
// step to the history.
func (f *flow) mergeAll(t *thread) error {
	number := t.step()
	for _, e := range t.frontier {
		step := Step{Step: number, Node: e.node.name, Visit: e.visit, Tasks: len(e.results)}
		for i, r := range e.results {
			if r.failed {
				step.Failed++
			}
			if r.unreached {
				step.Unreached++
			}
			if err := f.merge(t, r.changes); err != nil {
				return &NodeError{Node: e.node.name, Task: i, Err: err}
			}
		}
		t.steps = append(t.steps, step)
	}
	for _, field := range f.fields {
		field.settle(t.state)
	}
	return nil
}

func (f *flow) merge(t *thread, changes []change) error {
	for _, c := range changes {
		_, err := protect(func() (any, error) {
			f.fields[c.field.index].merge(t.state, c.value)
			return nil, nil
		})
		if err != nil {
			return fmt.Errorf("merging field %q: %w", c.field.name, err)
		}
		t.raw[c.field.index] = c.raw
	}
	return nil
}
