package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
)

// nodeRun runs the tasks of one node in one superstep.
type nodeRun struct {
	*entry
	flow   *flow
	thread *thread
	stop   context.Context // when it ends, tasks without a result are left for a later run
	ctx    context.Context // context of the tasks: stop, or one that also ends at the deadline
	broken *atomic.Bool    // the store refused a record of the superstep: no more tasks are started
	spent  atomic.Pointer[error]

	mu    sync.Mutex // orders the events of tasks that end
	ended int        // guarded by mu
}

// maxUnkept is the number of finished tasks of a node that may wait for the store
// to keep their result. They have released their slots, so commits are shared and the
// next tasks need not wait for the disk. An answer paid for with Once is kept
// before the task continues.
const maxUnkept = 128

// run runs the node's unfinished tasks, up to its concurrency at a time.
func (n *nodeRun) run() {
	n.flow.emit(Event{Kind: StepStarted, Node: n.node.name, Done: n.ended, Total: len(n.results)})
	slots, unkept := make(chan struct{}, n.node.concurrency), make(chan struct{}, n.node.concurrency+maxUnkept)
	var tasks sync.WaitGroup
	for i := range n.results {
		if n.results[i].done {
			continue
		}
		slots <- struct{}{}
		unkept <- struct{}{}
		if n.stop.Err() != nil || n.broken.Load() {
			break
		}
		tasks.Go(func() {
			defer func() { <-unkept }()
			n.runTask(i, sync.OnceFunc(func() { <-slots }))
		})
	}
	tasks.Wait()
	if n.stop.Err() != nil && n.done() < len(n.results) {
		n.stopped = context.Cause(n.stop)
	}
}

// runTask runs one task and journals its result. It calls free once the work is
// done. A task that failed while the run was being stopped has no result: it runs
// again later.
func (n *nodeRun) runTask(i int, free func()) {
	defer free()
	r := &n.results[i]
	r.err = n.taskError(i, errors.New("its goroutine exited")) // overwritten unless the goroutine exits
	own := n.journal(i)
	u, failure := n.attempt(i, own)
	if failure != nil && own.refusal() == nil && n.stop.Err() != nil {
		r.err = nil
		return
	}
	done := result{done: true, unreached: n.reachedLimit(failure)}
	done.failed = failure != nil && !done.unreached
	u, err := n.resolve(i, done, u, failure)
	if err = cmp.Or(own.refusal(), err); err == nil {
		record := Record{Step: n.thread.step(), Node: n.node.name, Task: i, Failed: done.failed,
			Unreached: done.unreached}
		done.changes, err = n.keep(record, u, free)
	}
	if err != nil {
		done = result{err: n.taskError(i, err)}
		failure = done.err
	}
	*r = done
	n.emitDone(failure)
}

// keep makes a task's result durable and returns its changes.
func (n *nodeRun) keep(r Record, u Update, free func()) ([]change, error) {
	data, changes, err := n.flow.record(r, u)
	if err != nil {
		return nil, err
	}
	free()
	return changes, n.append(data...)
}

func (n *nodeRun) append(data ...[]byte) error {
	err := n.flow.append(n.ctx, n.thread, n.node.name, data...)
	if errors.Is(err, errNotKept) {
		n.broken.Store(true)
	}
	return err
}

func (n *nodeRun) taskError(i int, err error) error {
	return &NodeError{Node: n.node.name, Task: i, Err: err}
}

// resolve returns the update of a task: its own, or the one that the node's
// policy makes of its failure.
func (n *nodeRun) resolve(i int, r result, u Update, failure error) (Update, error) {
	switch {
	case r.unreached:
		return protect(func() (Update, error) { return n.node.unreached(n.payloads[i]) })
	case r.failed && n.node.onError != nil:
		return protect(func() (Update, error) { return n.node.onError(n.payloads[i], failure) })
	}
	return u, failure
}

// reachedLimit reports whether a failure is due to time or budget, and if so keeps further
// tasks from starting.
func (n *nodeRun) reachedLimit(failure error) bool {
	if failure == nil || n.node.unreached == nil {
		return false
	}
	if errors.As(failure, new(*budgetError)) {
		n.spent.CompareAndSwap(nil, &failure)
		return true
	}
	return n.ctx.Err() != nil
}

// emitDone emits the event of a task that ended.
func (n *nodeRun) emitDone(failure error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended++
	n.flow.emit(Event{Kind: TaskDone, Node: n.node.name, Done: n.ended, Total: len(n.results), Err: failure})
}

// attempt runs a task, unless time or budget has run out.
func (n *nodeRun) attempt(i int, own *taskJournal) (Update, error) {
	if spent := n.spent.Load(); spent != nil {
		return Update{}, *spent
	}
	if n.ctx.Err() != nil {
		return Update{}, context.Cause(n.ctx)
	}
	ctx := context.WithValue(n.ctx, taskKey{}, own)
	return protect(func() (Update, error) { return n.call(ctx, i, own) })
}

// call calls the node's function. For an effect it journals the intent first; if
// the intent was already in the journal, it calls look before acting again.
func (n *nodeRun) call(ctx context.Context, i int, own *taskJournal) (Update, error) {
	switch {
	case n.node.kind != kindEffect:
	case n.results[i].intent:
		u, done, err := n.node.look(ctx, n.thread.state)
		if err != nil {
			return u, fmt.Errorf("checking whether it was done before: %w", err)
		}
		if done {
			return u, nil
		}
	default:
		if err := own.write(Record{Intent: true}); err != nil {
			return Update{}, err
		}
	}
	return n.node.run(ctx, n.thread.state, n.payloads[i])
}

// journal returns the journal that a task writes to while it runs.
func (n *nodeRun) journal(i int) *taskJournal {
	j := &taskJournal{}
	for key, value := range n.results[i].answers {
		j.answers.Store(key, &answer{value: value})
	}
	j.write = func(r Record) error {
		r.Step, r.Node, r.Task = n.thread.step(), n.node.name, i
		data, err := json.Marshal(&r, codec)
		if err != nil {
			return fmt.Errorf("encoding a record of %q: %w", r.Node, err)
		}
		if err = n.append(data); errors.Is(err, errNotKept) {
			j.refused.Store(&err)
		}
		return err
	}
	return j
}

// protect calls a function supplied by the graph's author and turns a panic into an error.
func protect[T any](call func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return call()
}
