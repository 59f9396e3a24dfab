package artifactstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/graph"
)

// reports collects what a store reports.
type reports struct {
	mu   sync.Mutex
	errs []error
}

func (r *reports) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

func (r *reports) all() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errs
}

func TestAFailedUploadIsReportedAndTriedAgain(t *testing.T) {
	t.Parallel()
	for name, stores := range map[string]bool{"nothing stored": false, "the answer lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				carrier, said := newShelf(), &reports{}
				carrier.stores = stores
				carrier.fail = func(_ context.Context, put int) error {
					if put == 2 || put == 3 {
						return errors.New("storage is down")
					}
					return nil
				}
				s := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{carrier}, OnError: said.add})
				run(t, s, 10*time.Minute)
				require.Len(t, said.all(), 2)
				require.ErrorContains(t, said.all()[0], "carrying progress away: storage is down")
				require.Equal(t, 4, carrier.puts())
				_, most := carrier.times()
				require.LessOrEqual(t, most, 2, "what may have been stored is deleted first")
				require.Equal(t, []string{"pr-review-42-partial-4"}, carrier.has())
			})
		})
	}
}

func TestP4_WhatAFailedUploadHeldIsCarriedByTheNext(t *testing.T) {
	t.Parallel()
	carrier := newShelf()
	carrier.fail = func(_ context.Context, put int) error {
		return map[int]error{1: errors.New("storage is down")}[put]
	}
	s := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{carrier}, Interval: -1})
	require.NoError(t, s.Save(t.Context(), "t", []byte(`{}`)))
	require.ErrorContains(t, s.Flush(t.Context()), "storage is down")
	require.NoError(t, s.Flush(t.Context()), "though nothing was written since")
	require.Len(t, carrier.has(), 1)
}

func TestCarriersFailApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good, readOnly, said := newShelf(), newShelf(), &reports{}
		readOnly.fail = func(context.Context, int) error { return fmt.Errorf("storing: %w", artifact.ErrReadOnly) }
		s := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{readOnly, good, artifactstore.REST{}},
			OnError: said.add})
		run(t, s, time.Hour)
		require.Equal(t, 6, good.puts())
		require.Equal(t, 1, readOnly.puts(), "it is asked once")
		require.Len(t, said.all(), 1)
		require.ErrorIs(t, said.all()[0], artifact.ErrReadOnly)
		require.ErrorIs(t, said.all()[0], artifactstore.ErrReadOnly)
		require.NoError(t, s.Flush(t.Context()))
	})
}

func TestProgressThatIsTooLargeIsLeftOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		carrier, said := newShelf(), &reports{}
		tooLarge := errors.New("too large")
		var size atomic.Int32
		size.Store(10)
		s := artifactstore.New(artifactstore.Options{
			Carriers: []artifactstore.Carrier{carrier}, OnError: said.add,
			Pack: func(_ graph.Saved, n int) (string, []byte, error) {
				if size.Load() > checkpoint.MaxZip {
					return "", nil, tooLarge
				}
				return fmt.Sprint(n), make([]byte, size.Load()), nil
			},
		})
		run(t, s, 40*time.Second)
		require.Equal(t, []string{"1"}, carrier.has())
		size.Store(checkpoint.MaxZip + 1)
		run(t, s, time.Hour)
		require.ErrorIs(t, said.all()[0], tooLarge)
		require.ErrorIs(t, s.Flush(t.Context()), tooLarge)
		require.Equal(t, []string{"1"}, carrier.has(), "what was carried stays")
		require.NoError(t, s.Close(t.Context(), false))
	})
}

// hang is a carrier's trouble: the first n uploads end with their context.
func hang(n int) func(ctx context.Context, put int) error {
	return func(ctx context.Context, put int) error {
		if put > n {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

func TestP4_AShutdownDoesNotWaitForAHangingUpload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		carrier, said := newShelf(), &reports{}
		carrier.fail = hang(1)
		s := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{carrier}, OnError: said.add})
		run(t, s, time.Minute)
		require.Equal(t, 1, carrier.puts())
		require.Empty(t, carrier.has(), "it hangs, and the run goes on")
		before := time.Now()
		require.NoError(t, s.Flush(t.Context()))
		require.Zero(t, time.Since(before))
		_, saved := newest(t, carrier)
		require.Len(t, saved.Journal, 60)
		require.Empty(t, said.all(), "what was broken off for newer progress is no failure")
	})
}

func TestAFlushEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		carrier := newShelf()
		carrier.fail = hang(9)
		s := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{carrier}})
		run(t, s, 40*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		before := time.Now()
		require.ErrorIs(t, s.Flush(ctx), context.DeadlineExceeded)
		require.Equal(t, 5*time.Second, time.Since(before))
	})
}

func TestACancelledRunStillCarriesItsProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		carrier := newShelf()
		s := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{carrier}})
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, s.Save(ctx, thread, []byte("one")))
		cancel()
		time.Sleep(time.Minute) // of the synctest bubble's clock: no real time passes
		require.Len(t, carrier.has(), 1)
	})
}

func TestCloseDeletesWhatAWholeDraftReplaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, whole := range []bool{false, true} {
			carrier, other := newShelf(), newShelf()
			other.fail = func(context.Context, int) error { return artifactstore.ErrReadOnly }
			s := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{carrier, other}})
			run(t, s, time.Minute)
			require.NoError(t, s.Close(t.Context(), whole))
			require.Equal(t, whole, len(carrier.has()) == 0)
			require.Zero(t, other.deleted)
			puts := carrier.puts()
			run(t, s, time.Hour)
			require.Equal(t, puts, carrier.puts(), "nothing ticks any more")
		}
		carrier, said := newShelf(), &reports{}
		s := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{carrier}, OnError: said.add})
		require.NoError(t, s.Close(t.Context(), true))
		run(t, s, time.Hour)
		require.Zero(t, carrier.puts(), "nor does it begin to")

		s = open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{carrier}, OnError: said.add})
		carrier.stuck = true
		run(t, s, 100*time.Second)
		require.ErrorContains(t, said.all()[0], "deleting replaced progress: stuck")
		require.ErrorContains(t, s.Close(t.Context(), true), "stuck")
	})
}

// In a synctest bubble, as all sleep here: the clock leaps and nothing waits.
func TestManyTasksWriteWhileProgressLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		carrier := newShelf()
		s := open(t, artifactstore.Options{Carriers: []artifactstore.Carrier{carrier}, Interval: time.Millisecond})
		require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 50 {
					if err := s.Append(t.Context(), thread, []byte("r")); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Millisecond) // of the synctest bubble's clock: no real time passes
				}
			})
		}
		group.Wait()
		require.NoError(t, s.Flush(t.Context()))
		_, saved := newest(t, carrier)
		require.Len(t, saved.Journal, 400)
	})
}
