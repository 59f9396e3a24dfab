package graph

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// computation is the running part of one superstep.
type computation[S any] struct {
	flow   *Flow[S]
	thread *thread[S]

	mu     sync.Mutex  // orders the events of tasks that end
	broken atomic.Bool // the store refused a record: nothing more is started
}

// runNode runs the missing tasks of one node, as many at a time as it allows.
// A task keeps its slot while it waits for a retry.
func (c *computation[S]) runNode(ctx context.Context, e *entry[S]) {
	ended := e.done()
	c.flow.emit(Event{Kind: StepStarted, Thread: c.thread.id, Node: e.node.name, Done: ended, Total: len(e.results)})
	slots := make(chan struct{}, e.node.concurrency)
	var tasks sync.WaitGroup
	for i := range e.results {
		if e.results[i].done {
			continue
		}
		slots <- struct{}{}
		if ctx.Err() != nil || c.broken.Load() {
			break
		}
		tasks.Go(func() {
			defer func() { <-slots }()
			c.runTask(ctx, e, i, &ended)
		})
	}
	tasks.Wait()
}

// runTask runs one task to its end and journals what it came to. A task that
// failed while the context was cancelled has no result: it runs again later.
func (c *computation[S]) runTask(ctx context.Context, e *entry[S], i int, ended *int) {
	r := &e.results[i]
	fail := func(attempts int, err error) error {
		return &NodeError{Node: e.node.name, Task: i, Attempts: attempts, Err: err}
	}
	r.err = fail(1, errors.New("its goroutine exited")) // unless what follows returns
	u, attempts, failure := c.attempt(ctx, e, i)
	if failure != nil && ctx.Err() != nil {
		r.err = nil
		return
	}
	err := failure
	if failure != nil && e.node.onError != nil {
		u, err = protect(func() (Update, error) { return e.node.onError(e.payloads[i], failure) })
	}
	var changes []change
	if err == nil {
		changes, err = c.flow.keep(ctx, c.thread, record{Step: c.thread.step(), Node: e.node.name, Task: i, Failed: failure != nil}, u)
	}
	if errors.Is(err, errNotKept) {
		c.broken.Store(true)
	}
	if err != nil {
		r.err = fail(attempts, err)
		failure = r.err
	} else {
		*r = result{done: true, failed: failure != nil, changes: changes}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	*ended++
	c.flow.emit(Event{
		Kind: TaskDone, Thread: c.thread.id, Node: e.node.name, Task: i,
		Done: *ended, Total: len(e.results), Attempt: attempts, Err: failure,
	})
}

// attempt runs a task, again after transient errors if its node says so.
func (c *computation[S]) attempt(ctx context.Context, e *entry[S], i int) (u Update, attempts int, err error) {
	for attempts = 1; ; attempts++ {
		u, err = protect(func() (Update, error) { return e.node.run(ctx, c.thread.state, e.payloads[i]) })
		wait, again := e.node.retry.next(err, attempts, c.flow.random)
		if err == nil || !again || ctx.Err() != nil {
			return u, attempts, err
		}
		c.flow.emit(Event{Kind: TaskRetry, Thread: c.thread.id, Node: e.node.name, Task: i, Total: len(e.results), Attempt: attempts, Err: err})
		if c.flow.sleep(ctx, wait) != nil {
			return u, attempts, err
		}
	}
}

// protect calls a function of the flow and turns its panic into an error.
func protect[T any](call func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return call()
}
