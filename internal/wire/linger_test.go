package wire_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/wire"
)

func TestP4_AnAnswerOnItsWayIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		run, cancel := context.WithCancel(t.Context())
		longer, done := wire.Lingering(run, 3*time.Second)
		defer done()
		cancel()
		began := time.Now()
		<-longer.Done()
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

func TestG33_ADeadlineIsNotWaitedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		run, cancel := context.WithCancelCause(t.Context())
		longer, done := wire.Lingering(run, 3*time.Second)
		defer done()
		cancel(graph.ErrDeadline)
		began := time.Now()
		<-longer.Done()
		require.Zero(t, time.Since(began))
		require.ErrorIs(t, context.Cause(longer), graph.ErrDeadline)
	})
}
