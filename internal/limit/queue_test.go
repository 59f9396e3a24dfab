package limit

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// parent counts the contexts that hang on it.
type parent struct {
	context.Context
	done    chan struct{}
	hanging atomic.Int64
}

func (p *parent) Done() <-chan struct{} { return p.done }

// AfterFunc is how package context hangs a child on a context of another package.
func (p *parent) AfterFunc(func()) (stop func() bool) {
	p.hanging.Add(1)
	return func() bool { p.hanging.Add(-1); return true }
}

func TestACallThatLooksAgainLeavesNothingOfItsFormerLook(t *testing.T) {
	t.Parallel()
	l := New(Options{Concurrency: 1})
	end := begin(t, l)
	ctx, w := &parent{Context: t.Context(), done: make(chan struct{})}, &waiter{}
	l.queue = append(l.queue, w)
	for range 100 {
		a, round := l.attempt(ctx, w)
		require.Nil(t, a.call)
		require.NoError(t, round.Err())
		require.EqualValues(t, 1, ctx.hanging.Load())
	}
	end(answer(200), nil)
	a, _ := l.attempt(ctx, w)
	require.NotNil(t, a.call)
	require.Zero(t, ctx.hanging.Load())
}
