package graph_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// locked is a memory store whose locks can be seen and fail.
type locked struct {
	*graph.Memory
	held    bool
	release error
}

func (s *locked) Lock(ctx context.Context, thread string) (func() error, error) {
	release, err := s.Memory.Lock(ctx, thread)
	s.held = err == nil
	return func() error {
		s.held = false
		return errors.Join(release(), s.release)
	}, err
}

func TestG25_TheLockIsHeldFromLoadingToTheLastWrite(t *testing.T) {
	k := newKit()
	store := &locked{Memory: graph.NewMemory()}
	var held []bool
	k.line(k.Node("a", func(context.Context, state) (graph.Update, error) {
		held = append(held, store.held)
		return graph.Update{}, nil
	}), k.gate("gate"))
	f := k.build(t, store)
	_, err := f.Continue(t.Context(), "t")
	require.ErrorIs(t, err, graph.ErrNoThread)
	require.False(t, store.held)
	run(t, f)
	require.Equal(t, []bool{true}, held)
	require.False(t, store.held)

	release, err := store.Lock(t.Context(), "t")
	require.NoError(t, err)
	_, err = f.Resume(t.Context(), "t", graph.Answer{Value: "y"})
	require.ErrorIs(t, err, graph.ErrBusy)
	_, err = f.Inspect(t.Context(), "t")
	require.NoError(t, err, "looking needs no lock")
	require.NoError(t, release())
	store.release = errDisk
	r, err := f.Resume(t.Context(), "t", graph.Answer{Value: "y"})
	require.ErrorContains(t, err, `unlocking thread "t": disk full`)
	require.Equal(t, graph.Ended, r.Status)
}

func TestG25_ThreadRunsOnceAtATime(t *testing.T) {
	k := newKit()
	var f *graph.Flow[state]
	var err error
	k.line(k.Node("a", func(ctx context.Context, _ state) (graph.Update, error) {
		_, err = f.Run(ctx, "t", state{})
		return graph.Update{}, nil
	}))
	f = k.build(t, nil)
	run(t, f)
	require.ErrorIs(t, err, graph.ErrBusy)
	run(t, f)
}
