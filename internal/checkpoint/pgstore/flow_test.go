package pgstore

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/pgtest"
)

type state struct {
	Reviews []string
	Answer  string
	Posted  bool
}

// flow is a small review: a fan over the files, a gate, a post. Where it would
// pay for a file, or post (-1), at is called.
func flow(t *testing.T, s graph.Store, files, concurrency int, at func(file int)) *graph.Flow[state] {
	t.Helper()
	g := graph.New[state]("small", 1)
	reviews := graph.Append(g, "reviews", func(s *state) *[]string { return &s.Reviews })
	answer := graph.Value(g, "answer", func(s *state) *string { return &s.Answer })
	posted := graph.Value(g, "posted", func(s *state) *bool { return &s.Posted })
	plan := g.Node("plan", func(context.Context, state) (graph.Update, error) { return graph.Update{}, nil })
	review := graph.Each(g, "review", func(ctx context.Context, _ state, file int) (graph.Update, error) {
		text, err := graph.Once(ctx, "model", func(context.Context) (string, error) {
			at(file)
			return fmt.Sprintf("%d: %s", file, strings.Repeat("looks odd; ", 180)), nil
		})
		return reviews.Set([]string{text}), err
	}, graph.Writes(reviews), graph.Concurrency(concurrency))
	gate := graph.Gate(g, "gate",
		func(s state) (int, error) { return len(s.Reviews), nil },
		func(_ state, a string) (graph.Update, error) { return answer.Set(a), nil }, graph.Writes(answer))
	post := g.Node("post", func(context.Context, state) (graph.Update, error) {
		at(-1)
		return posted.Set(true), nil
	}, graph.Writes(posted))
	g.Start(plan)
	g.Route(plan, func(state) graph.Next {
		payloads := make([]int, files)
		for i := range payloads {
			payloads[i] = i
		}
		return review.Over(payloads)
	}, review.OrElse(graph.End("Clean")))
	g.Edge(review, gate)
	g.Edge(gate, post)
	g.Edge(post, graph.End("Posted"))
	f, err := g.Build(s)
	require.NoError(t, err)
	return f
}

func nothing(int) {}

func TestG17_ParkedByOneStoreResumedByAnother(t *testing.T) {
	t.Parallel()
	url := database(t)
	const files = 200
	one, other := open(t, url), open(t, url)
	began := time.Now()
	parked, err := flow(t, one, files, 8, nothing).Run(t.Context(), thread, state{})
	require.NoError(t, err)
	require.Equal(t, graph.Paused, parked.Status)
	saved, err := other.Load(t.Context(), thread)
	require.NoError(t, err)
	t.Logf("to the pause: %d files, a snapshot of %d kB, in %s", files, len(saved.Snapshot)>>10, time.Since(began))

	began = time.Now()
	done, err := flow(t, other, files, 8, func(file int) { require.Equal(t, -1, file, "nothing runs again") }).
		Resume(t.Context(), thread, graph.Answer{Gate: parked.Pending[0].ID, Value: "approve"})
	require.NoError(t, err)
	require.Equal(t, graph.Ended, done.Status)
	require.Equal(t, parked.State.Reviews, done.State.Reviews)
	require.True(t, done.State.Posted)
	t.Logf("resumed and posted in %s", time.Since(began))
}

func TestG25_OfTwoResumersOneWinsAndTheOtherSaysWho(t *testing.T) {
	t.Parallel()
	url := database(t)
	one, other := open(t, url), open(t, url)
	parked, err := flow(t, one, 2, 1, nothing).Run(t.Context(), thread, state{})
	require.NoError(t, err)
	answer := graph.Answer{Gate: parked.Pending[0].ID, Value: "approve"}
	posting, finish := make(chan bool), make(chan bool)
	winner := make(chan error)
	var posts atomic.Int32
	go func() {
		_, err := flow(t, one, 2, 1, func(int) {
			posts.Add(1)
			posting <- true
			<-finish
		}).Resume(t.Context(), thread, answer)
		winner <- err
	}()
	<-posting
	late := flow(t, other, 2, 1, func(int) { posts.Add(1) })
	_, err = late.Resume(t.Context(), thread, answer)
	require.ErrorIs(t, err, graph.ErrBusy)
	require.ErrorContains(t, err, fmt.Sprintf("pid %d on", os.Getpid()))
	close(finish)
	require.NoError(t, <-winner)
	_, err = late.Resume(t.Context(), thread, answer)
	require.ErrorIs(t, err, graph.ErrAnswered)
	require.EqualValues(t, 1, posts.Load())
}

func TestP4_AServerStoppedInTheMiddleIsAClearErrorAndTheRunGoesOnWhenItIsBack(t *testing.T) {
	if server == nil { // the tests that are parallel to others begin when this one has ended
		t.Skip(pgtest.ErrNone)
	}
	idle := open(t, server.URL())
	for _, mode := range []string{"fast", "immediate"} {
		url := server.Database(t)
		s := open(t, url)
		const files, stopAt = 30, 17
		var calls [files]int
		_, err := flow(t, s, files, 1, func(file int) {
			calls[file]++
			if file == stopAt {
				require.NoError(t, server.Stop(mode))
			}
		}).Run(t.Context(), thread, state{})
		t.Log(err)
		require.ErrorContains(t, err, "Postgres store "+s.Where()+", journalling")
		require.Contains(t, next(t, err), "what was journalled is kept")
		_, err = s.Load(t.Context(), thread)
		require.Contains(t, next(t, err), "see that the server runs")
		_, err = s.Lock(t.Context(), thread)
		require.Contains(t, next(t, err), "see that the server runs")

		require.NoError(t, server.StartAgain())
		_, err = idle.Threads(t.Context())
		require.NoError(t, err, "a store that was idle meanwhile does not notice")
		for _, again := range []*Store{s, open(t, url)} {
			r, err := flow(t, again, files, 1, func(file int) { calls[file]++ }).Continue(t.Context(), thread)
			require.NoError(t, err)
			require.Equal(t, graph.Paused, r.Status)
			require.Len(t, r.State.Reviews, files)
		}
		for file, n := range calls {
			want := 1
			if file == stopAt {
				want = 2 // its answer was refused
			}
			require.Equal(t, want, n, "file %d", file)
		}
	}
}
