package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

var errDisk = errors.New("disk full")

// faulty is a memory store that can refuse to write.
type faulty struct {
	*graph.Memory
	failSave    bool
	failAppend  atomic.Bool
	afterAppend func()
}

func (s *faulty) Save(ctx context.Context, thread string, snapshot ...[]byte) error {
	if s.failSave {
		return errDisk
	}
	return errors.Join(ctx.Err(), s.Memory.Save(ctx, thread, snapshot...))
}

func (s *faulty) Append(ctx context.Context, thread string, record ...[]byte) error {
	if s.failAppend.Load() {
		return errDisk
	}
	if s.afterAppend != nil {
		defer s.afterAppend()
	}
	return errors.Join(ctx.Err(), s.Memory.Append(ctx, thread, record...))
}

// counted is a task that counts its runs per payload and then does what it is told.
type counted struct {
	mu   sync.Mutex
	runs map[int]int
}

func (c *counted) add(p int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs == nil {
		c.runs = map[int]int{}
	}
	c.runs[p]++
	return c.runs[p]
}

func TestG9_FailureLeavesSiblingsAndFailsTheStepAfterThem(t *testing.T) {
	k := newKit()
	var c counted
	release := make(chan struct{})
	k.fan(4, func(ctx context.Context, _ state, p int) (graph.Update, error) {
		if n := c.add(p); p == 1 && n == 1 {
			defer close(release) // the siblings are still at work
			return graph.Update{}, errors.New("boom")
		}
		<-release
		return k.total.Set(1), ctx.Err()
	}, graph.Concurrency(4))
	store := graph.NewMemory()
	f := k.build(t, store)
	_, err := f.Run(t.Context(), "t", state{})
	require.EqualError(t, err, `node "work", task 1: boom`)
	saved, err := store.Load(t.Context(), "t")
	require.NoError(t, err)
	require.Len(t, saved.Journal, 4, "the fan's node before it, and three tasks")
	r, err := k.build(t, store).Continue(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, 4, r.State.Total)
	require.Equal(t, map[int]int{0: 1, 1: 2, 2: 1, 3: 1}, c.runs)
}

func TestG9_PolicyTurnsAFailureIntoAnUpdate(t *testing.T) {
	k := newKit()
	k.fan(3, func(_ context.Context, _ state, p int) (graph.Update, error) {
		if p == 1 {
			return graph.Update{}, errors.New("boom")
		}
		return k.total.Set(1), nil
	}, graph.OnError(func(p int, err error) (graph.Update, error) {
		return k.log.Set([]string{fmt.Sprint(p, err)}), nil
	}))
	f := k.build(t, nil)
	r := run(t, f)
	require.Equal(t, []string{"split", "1 boom", "join"}, r.State.Log)
	require.Equal(t, 2, r.State.Total)
	v, err := f.Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, graph.Step{Step: 2, Node: "work", Visit: 1, Tasks: 3, Failed: 1}, v.Steps[1])
}

func TestG9_PolicyMayFailTheStep(t *testing.T) {
	k := newKit()
	boom := errors.New("boom")
	n := k.Node("n", func(context.Context, state) (graph.Update, error) { return graph.Update{}, boom },
		graph.OnError(func(_ any, err error) (graph.Update, error) {
			return graph.Update{}, fmt.Errorf("for good: %w", err)
		}))
	k.line(n)
	_, err := k.build(t, nil).Run(t.Context(), "t", state{})
	require.ErrorIs(t, err, boom)
	require.EqualError(t, err, `node "n", task 0: for good: boom`)
}

func TestG9_ManyFailuresMakeAReadableError(t *testing.T) {
	k := newKit()
	k.fan(500, func(context.Context, state, int) (graph.Update, error) { return graph.Update{}, errors.New("boom") })
	_, err := k.build(t, nil).Run(t.Context(), "t", state{})
	require.ErrorContains(t, err, `task 9: boom`)
	require.ErrorContains(t, err, `490 more tasks failed`)
	require.NotContains(t, err.Error(), `task 10: boom`)
}

func TestG10_CancelledRunContinuesFromItsStore(t *testing.T) {
	k := newKit()
	var c counted
	ctx, cancel := context.WithCancel(t.Context())
	working := make(chan struct{})
	k.fan(20, func(ctx context.Context, _ state, p int) (graph.Update, error) {
		switch first := c.add(p) == 1; {
		case p == 3 && first:
			<-working
			cancel() // finishes anyway, and is kept
		case p == 4 && first:
			close(working)
			<-ctx.Done() // sees it, and is run again
			return graph.Update{}, ctx.Err()
		}
		return graph.Updates(k.total.Set(1), k.log.Set([]string{fmt.Sprint(p)})), nil
	}, graph.Concurrency(2), graph.OnError(func(int, error) (graph.Update, error) {
		return k.log.Set([]string{"the policy was asked about cancellation"}), nil
	}))
	store := &faulty{Memory: graph.NewMemory()}
	_, err := k.build(t, store).Run(ctx, "t", state{})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "step 2 (work) stopped with 4 of 20 tasks done")
	require.Len(t, c.runs, 5)

	v, err := k.build(t, store).Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, graph.Running, v.Status)
	require.Equal(t, [2]int{4, 20}, [2]int{v.Done, v.Total})
	r, err := k.build(t, store).Continue(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, 20, r.State.Total)
	require.Equal(t, "0", r.State.Log[1])
	require.Equal(t, "19", r.State.Log[20])
	require.Equal(t, 2, c.runs[4])
	require.Equal(t, 1, c.runs[3])
}

func TestG10_CancelledBetweenStepsSchedulesNothing(t *testing.T) {
	k := newKit()
	ctx, cancel := context.WithCancel(t.Context())
	a := k.Node("a", func(context.Context, state) (graph.Update, error) {
		cancel()
		return k.log.Set([]string{"a"}), nil
	}, graph.Writes(k.log))
	k.line(a, k.node("b"))
	store := &faulty{Memory: graph.NewMemory()}
	f := k.build(t, store)
	r, err := f.Run(ctx, "t", state{})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"a"}, r.State.Log)
	r, err = f.Continue(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, r.State.Log)
}

func TestStoreThatCannotKeepResultsStopsTheFan(t *testing.T) {
	k := newKit()
	var c counted
	store := &faulty{Memory: graph.NewMemory()}
	k.fan(1000, func(_ context.Context, _ state, p int) (graph.Update, error) {
		store.failAppend.Store(true)
		c.add(p)
		return graph.Update{}, nil
	}, graph.Concurrency(1))
	f := k.build(t, store)
	_, err := f.Run(t.Context(), "t", state{})
	require.ErrorIs(t, err, errDisk)
	require.LessOrEqual(t, len(c.runs), 128+1, "those that wait for the store, and one that runs")
}

// stuck is a store whose disk does not answer until it is freed.
type stuck struct {
	*graph.Memory
	free chan struct{}
}

func (s stuck) Append(ctx context.Context, thread string, record ...[]byte) error {
	<-s.free
	return s.Memory.Append(ctx, thread, record...)
}

func TestG20_BoundedNumberOfResultsWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit()
		var started atomic.Int32
		split := k.gate("split")
		each := graph.Each(k.Graph, "work", func(context.Context, state, int) (graph.Update, error) {
			started.Add(1)
			return graph.Update{}, nil
		}, graph.Concurrency(2))
		k.Start(split)
		k.Route(split, func(state) graph.Next { return each.Over(upTo(1000)) }, each)
		k.Edge(each, graph.End("Done"))
		store := stuck{graph.NewMemory(), make(chan struct{}, 1)}
		f := k.build(t, store)
		run(t, f)
		store.free <- struct{}{} // for the answer
		done := make(chan error)
		go func() {
			_, err := f.Resume(t.Context(), "t", graph.Answer{Value: "y"})
			done <- err
		}()
		synctest.Wait()
		require.EqualValues(t, 128+2, started.Load())
		close(store.free)
		require.NoError(t, <-done)
		require.EqualValues(t, 1000, started.Load())
	})
}

func TestG11_NoMoreTasksRunAtOneTimeThanTheNodeAllows(t *testing.T) {
	t.Parallel()
	const limit = 3
	k := newKit()
	var running, most atomic.Int32
	full := make(chan struct{})
	fill := sync.OnceFunc(func() { close(full) })
	k.fan(30, func(context.Context, state, int) (graph.Update, error) {
		now := running.Add(1)
		defer running.Add(-1)
		if now == limit {
			fill()
		}
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		<-full // so that as many as may be run at one time
		runtime.Gosched()
		return k.total.Set(1), nil
	}, graph.Concurrency(limit))
	require.Equal(t, 30, run(t, k.build(t, nil)).State.Total)
	require.EqualValues(t, limit, most.Load())
}

func TestG13_PanicIsTheTasksErrorWithItsStack(t *testing.T) {
	k := newKit()
	k.fan(2, func(_ context.Context, _ state, p int) (graph.Update, error) {
		if p == 1 {
			panic("oh no")
		}
		return graph.Update{}, nil
	})
	_, err := k.build(t, nil).Run(t.Context(), "t", state{})
	require.EqualError(t, err, `node "work", task 1: panic: oh no`)
	p, ok := errors.AsType[*graph.PanicError](err)
	require.True(t, ok)
	require.Contains(t, string(p.Stack), "run_test.go")
}

func TestG13_PanicsOfRoutePolicyAndGateAreErrors(t *testing.T) {
	for name, wire := range map[string]func(k kit){
		"route": func(k kit) {
			a := k.node("a")
			k.Start(a)
			k.Route(a, func(state) graph.Next { panic("oh no") }, graph.End("Done"))
		},
		"policy": func(k kit) {
			k.line(k.Node("a", func(context.Context, state) (graph.Update, error) { return graph.Update{}, errDisk },
				graph.OnError(func(any, error) (graph.Update, error) { panic("oh no") })))
		},
		"ask": func(k kit) {
			k.line(k.node("a"), graph.Gate(k.Graph, "g", func(state) (int, error) {
				panic("oh no")
			}, func(state, int) (graph.Update, error) { return graph.Update{}, nil }))
		},
	} {
		k := newKit()
		wire(k)
		_, err := k.build(t, graph.NewMemory()).Run(t.Context(), "t", state{})
		_, ok := errors.AsType[*graph.PanicError](err)
		require.True(t, ok, "%s: %v", name, err)
	}
}

func TestG13_TaskThatExitsItsGoroutineIsAnError(t *testing.T) {
	k := newKit()
	k.fan(3, func(_ context.Context, _ state, p int) (graph.Update, error) {
		if p == 1 {
			runtime.Goexit()
		}
		return graph.Update{}, nil
	}, graph.Concurrency(1))
	_, err := k.build(t, nil).Run(t.Context(), "t", state{})
	require.ErrorContains(t, err, `node "work", task 1: its goroutine exited`)
}

func TestUndeclaredWriteNamesNodeAndField(t *testing.T) {
	k := newKit()
	n := k.Node("n", func(context.Context, state) (graph.Update, error) {
		return k.name.Set("x"), nil
	}, graph.Writes(k.log),
		graph.OnError(func(any, error) (graph.Update, error) { return graph.Update{}, nil }))
	k.line(n)
	_, err := k.build(t, nil).Run(t.Context(), "t", state{})
	require.ErrorContains(t, err, `node "n" does not declare that it writes field "name"`)
}

func TestG19_ExistingThreadContinuesAndIgnoresTheInitialState(t *testing.T) {
	k := newKit()
	k.line(k.node("a"), k.gate("gate"))
	store := graph.NewMemory()
	first, err := k.build(t, store).Run(t.Context(), "head1", state{Name: "first"})
	require.NoError(t, err)
	again, err := k.build(t, store).Run(t.Context(), "head1", state{Name: "second"})
	require.NoError(t, err)
	require.Equal(t, first, again)
	other, err := k.build(t, store).Run(t.Context(), "head2", state{Name: "second"})
	require.NoError(t, err)
	require.Equal(t, "second", other.State.Name)
	_, err = k.build(t, store).Continue(t.Context(), "head3")
	require.ErrorIs(t, err, graph.ErrNoThread)
}
