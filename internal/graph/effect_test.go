package graph_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// world is what an effect acts on.
type world struct {
	posts, looks int
	act, look    error // what they return after having acted or looked
	lost         bool  // act fails before it has acted
}

func (w *world) line(k kit) {
	k.line(k.node("a"), k.Effect("post", func(context.Context, state) (graph.Update, error) {
		if w.lost {
			return graph.Update{}, errors.New("not sent")
		}
		w.posts++
		return k.log.Set([]string{"posted"}), w.act
	}, func(context.Context, state) (graph.Update, bool, error) {
		w.looks++
		return k.log.Set([]string{"found"}), w.posts > 0, w.look
	}, graph.Writes(k.log)))
}

func TestG31_IntentIsInTheJournalBeforeTheEffectActs(t *testing.T) {
	t.Parallel()
	k, store := newKit(), graph.NewMemory()
	var atPost graph.Saved
	k.line(k.Effect("post", func(ctx context.Context, _ state) (graph.Update, error) {
		var err error
		atPost, err = store.Load(ctx, "t")
		return graph.Update{}, err
	}, unseen))
	run(t, k.build(t, store))
	require.Len(t, atPost.Journal, 1)
	r, err := graph.DecodeRecord(atPost.Journal[0])
	require.NoError(t, err)
	require.Equal(t, graph.Record{Step: 1, Node: "post", Intent: true}, r)
}

func TestG31_IntentThatIsRefusedActsNot(t *testing.T) {
	t.Parallel()
	var w world
	k := newKit()
	w.line(k)
	store := &refusing{Memory: graph.NewMemory()}
	store.left.Store(1)
	_, err := k.build(t, store).Run(t.Context(), "t", state{})
	require.ErrorIs(t, err, errDisk)
	require.Zero(t, w.posts)
	store.left.Store(9)
	require.Equal(t, []string{"a", "posted"}, run(t, k.build(t, store)).State.Log)
	require.Zero(t, w.looks, "there was no intent")
}

func TestG31_LostResultIsLookedForAndNotActedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kept int64 // records before the store dies
		act  error
	}{"killed after acting": {2, nil}, "the answer was lost": {9, errors.New("timeout")}} {
		w := world{act: c.act}
		k := newKit()
		w.line(k)
		store := &refusing{Memory: graph.NewMemory()}
		store.left.Store(c.kept)
		_, err := k.build(t, store).Run(t.Context(), "t", state{})
		require.Error(t, err, name)
		store.left.Store(9)
		w.look = errors.New("no network")
		_, err = k.build(t, store).Continue(t.Context(), "t")
		require.ErrorContains(t, err, `node "post", task 0: checking whether it was done before: no network`, name)
		w.look = nil
		r, err := k.build(t, store).Continue(t.Context(), "t")
		require.NoError(t, err, name)
		require.Equal(t, []string{"a", "found"}, r.State.Log, name)
		require.Equal(t, world{posts: 1, looks: 2, act: c.act}, w, name)
	}
}

func TestG31_WhatWasNotDoneIsDoneAfterALook(t *testing.T) {
	t.Parallel()
	w := world{lost: true}
	k := newKit()
	w.line(k)
	f := k.build(t, graph.NewMemory())
	_, err := f.Run(t.Context(), "t", state{})
	require.ErrorContains(t, err, "not sent")
	w.lost = false
	require.Equal(t, []string{"a", "posted"}, run(t, f).State.Log)
	require.Equal(t, world{posts: 1, looks: 1}, w)
}
