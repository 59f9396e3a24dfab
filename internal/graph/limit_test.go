package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// left stands for a task that was not reached.
func (k kit) left(p int) graph.Update { return k.log.Set([]string{fmt.Sprint("left ", p)}) }

// slow is a task that takes a second per payload.
func (k kit) slow(ctx context.Context, _ state, p int) (graph.Update, error) {
	select {
	case <-time.After(time.Second):
		return k.log.Set([]string{fmt.Sprint("read ", p)}), nil
	case <-ctx.Done():
		return graph.Update{}, context.Cause(ctx)
	}
}

func TestG33_AtTheDeadlineTheRunGoesOnWithWhatThereIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKit()
		join := k.fan(6, k.slow, graph.Concurrency(2), graph.Unreached(k.left),
			graph.OnError(func(int, error) (graph.Update, error) {
				return k.log.Set([]string{"the policy was asked"}), nil
			}))
		k.InterruptAfter(join)
		var late atomic.Int32
		f := k.build(t, graph.NewMemory(), graph.WithDeadline(time.Now().Add(1500*time.Millisecond)),
			graph.Observe(func(e graph.Event) {
				if errors.Is(e.Err, graph.ErrDeadline) {
					late.Add(1)
				}
			}))
		r := run(t, f)
		require.Equal(t, graph.Paused, r.Status)
		require.Equal(t, "split,read 0,read 1,left 2,left 3,left 4,left 5,join", strings.Join(r.State.Log, ","))
		require.EqualValues(t, 4, late.Load())
		v, err := f.Inspect(t.Context(), "t")
		require.NoError(t, err)
		require.Equal(t, graph.Step{Step: 2, Node: "work", Visit: 1, Tasks: 6, Unreached: 4}, v.Steps[1])
	})
}

func TestG33_ThreadPastItsDeadlineEndsAndRunsNoTask(t *testing.T) {
	t.Parallel()
	k := newKit()
	split := k.node("split")
	started := false
	each := graph.Each(k.Graph, "work", func(context.Context, state, int) (graph.Update, error) {
		started = true
		return graph.Update{}, nil
	}, graph.Writes(k.log), graph.Unreached(k.left))
	k.Start(split)
	k.Route(split, func(state) graph.Next { return each.Over(upTo(3)) }, each)
	k.Edge(each, graph.End("Done"))
	k.InterruptAfter(split)
	store := graph.NewMemory()
	p := run(t, k.build(t, store)).Pending[0]
	past := k.build(t, store, graph.WithDeadline(time.Unix(1, 0)))
	r, err := past.Resume(t.Context(), "t", graph.Answer{Gate: p.ID})
	require.NoError(t, err)
	require.Equal(t, graph.Ended, r.Status)
	require.Equal(t, []string{"split", "left 0", "left 1", "left 2"}, r.State.Log)
	require.False(t, started)
}

func TestG33_NodeWithoutUnreachedStopsTheRunWhichCanBeContinued(t *testing.T) {
	t.Parallel()
	for name, o := range map[string][]graph.Option{"no fan has it": nil, "before the fan that has it": {}} {
		synctest.Test(t, func(t *testing.T) {
			k := newKit()
			if o != nil {
				o = append(o, graph.Unreached(k.left))
			}
			waits := k.Node("waits", func(ctx context.Context, s state) (graph.Update, error) {
				return k.slow(ctx, s, 0)
			}, graph.Writes(k.log))
			each := graph.Each(k.Graph, "work", k.slow, append(o, graph.Writes(k.log))...)
			k.Start(waits)
			k.Route(waits, func(state) graph.Next { return each.Over(upTo(2)) }, each)
			k.Edge(each, graph.End("Done"))
			store := graph.NewMemory()
			late := k.build(t, store, graph.WithDeadline(time.Now().Add(time.Second/2)))
			for range 2 {
				_, err := late.Run(t.Context(), "t", state{})
				require.ErrorIs(t, err, graph.ErrDeadline, name)
				require.EqualError(t, err, "step 1 (waits) stopped with 0 of 1 tasks done: the deadline has passed")
			}
			require.Equal(t, []string{"read 0", "read 0", "read 1"}, run(t, k.build(t, store)).State.Log)
		})
	}
}

func TestG33_WhatFollowsTheFanHasNoDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKit()
		each := graph.Each(k.Graph, "work", k.slow, graph.Writes(k.log), graph.Unreached(k.left))
		split := k.node("split")
		after := k.Node("after", func(ctx context.Context, s state) (graph.Update, error) {
			return k.slow(ctx, s, 9)
		}, graph.Writes(k.log))
		gate := k.gate("gate")
		k.Start(split)
		k.Route(split, func(state) graph.Next { return each.Over(upTo(1)) }, each)
		k.Edge(each, after)
		k.Edge(after, gate)
		k.Route(gate, func(state) graph.Next { return graph.To(graph.End("Done")) }, split, graph.End("Done"))
		f := k.build(t, graph.NewMemory(), graph.WithDeadline(time.Now().Add(1500*time.Millisecond)))
		require.Equal(t, []string{"split", "read 0", "read 9"}, run(t, f).State.Log)
	})
}

func TestG33_CancellationIsNoDeadline(t *testing.T) {
	t.Parallel()
	k := newKit()
	ctx, cancel := context.WithCancel(t.Context())
	k.fan(3, func(ctx context.Context, _ state, p int) (graph.Update, error) {
		cancel()
		return graph.Update{}, ctx.Err()
	}, graph.Concurrency(1), graph.Unreached(k.left))
	store := graph.NewMemory()
	_, err := k.build(t, store, graph.WithDeadline(time.Now().Add(time.Hour))).Run(ctx, "t", state{})
	require.ErrorIs(t, err, context.Canceled)
	v, err := k.build(t, store).Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.Zero(t, v.Done)
}

func TestG33_SpentBudgetStartsNothingMoreAndSiblingsFinish(t *testing.T) {
	t.Parallel()
	k := newKit()
	var c counted
	first, spent := make(chan struct{}), make(chan struct{})
	k.fan(6, func(ctx context.Context, _ state, p int) (graph.Update, error) {
		if c.add(p); p == 1 {
			<-first
			defer close(spent)
			return graph.Update{}, fmt.Errorf("asking: %w", graph.OutOfBudget(errors.New("the cap is reached")))
		}
		if p == 0 {
			close(first)
		}
		<-spent
		return k.log.Set([]string{fmt.Sprint("read ", p)}), ctx.Err()
	}, graph.Concurrency(2), graph.Unreached(k.left))
	var why []string
	store := graph.NewMemory()
	r := run(t, k.build(t, store, graph.Observe(func(e graph.Event) {
		if e.Err != nil {
			why = append(why, e.Err.Error())
		}
	})))
	require.Contains(t, r.State.Log, "read 0")
	require.Contains(t, r.State.Log, "left 1")
	require.Contains(t, r.State.Log, "left 5")
	require.Less(t, len(c.runs), 6)
	require.Contains(t, why, "asking: the cap is reached")
	saved, err := store.Load(t.Context(), "t")
	require.NoError(t, err)
	require.Contains(t, string(slices.Concat(saved.Journal...)), `"unreached":true`)
}

func TestG33_SpentElsewhereIsAnErrorLikeOthers(t *testing.T) {
	t.Parallel()
	require.NoError(t, graph.OutOfBudget(nil))
	k := newKit()
	k.fan(2, func(context.Context, state, int) (graph.Update, error) {
		return graph.Update{}, graph.OutOfBudget(errDisk)
	},
		graph.OnError(func(p int, err error) (graph.Update, error) { return k.log.Set([]string{err.Error()}), nil }))
	require.Equal(t, []string{"split", "disk full", "disk full", "join"}, run(t, k.build(t, nil)).State.Log)
}
