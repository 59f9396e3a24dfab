package app

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

func TestP4_AnAnswerOnItsWayIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		run, cancel := context.WithCancel(t.Context())
		longer, done := lingering(run, lastAnswers)
		defer done()
		cancel()
		began := time.Now()
		<-longer.Done()
		require.Equal(t, lastAnswers, time.Since(began))
	})
}

func TestG33_ADeadlineIsNotWaitedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		run, cancel := context.WithCancelCause(t.Context())
		longer, done := lingering(run, lastAnswers)
		defer done()
		cancel(graph.ErrDeadline)
		began := time.Now()
		<-longer.Done()
		require.Zero(t, time.Since(began))
		require.ErrorIs(t, context.Cause(longer), graph.ErrDeadline)
	})
}
