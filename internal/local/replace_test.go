package local

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/wire"
)

var errKilled = errors.New("killed")

// mortal is a store whose process dies at the write after left others.
type mortal struct {
	wire.Store
	left *int
}

func (m mortal) dies() bool { *m.left--; return *m.left < 0 }

func (m mortal) Save(ctx context.Context, thread string, snapshot ...[]byte) error {
	if m.dies() {
		return errKilled
	}
	return m.Store.Save(ctx, thread, snapshot...)
}

func (m mortal) Append(ctx context.Context, thread string, record ...[]byte) error {
	if m.dies() {
		return errKilled
	}
	return m.Store.Append(ctx, thread, record...)
}

func (m mortal) Remove(ctx context.Context, thread string) error {
	if m.dies() {
		return errKilled
	}
	return m.Store.Remove(ctx, thread)
}

// TestP4_AProcessKilledWhileItReplacesADraftLosesNeither kills it at each write.
func TestP4_AProcessKilledWhileItReplacesADraftLosesNeither(t *testing.T) {
	t.Parallel()
	const thread = "local/x#main..HEAD:0123456789abcdef0123456789abcdef01234567"
	old := graph.Saved{Snapshot: []byte("old"), Journal: [][]byte{[]byte("paid")}}
	waits := graph.Saved{Snapshot: []byte("new")} // a draft at its gate has no journal
	for n := 0; ; n++ {
		at, err := filestore.New(t.TempDir())
		require.NoError(t, err)
		require.NoError(t, storeThread(t.Context(), at, thread, old))
		r := Run{Terminal: &Terminal{Options: &Options{}}, Session: Session{Thread: thread}}
		left := n
		r.Store = mortal{at, &left}
		was := replaced{saved: old, next: successor{r.Store, thread, successorPrefix(thread, false, old) + "0123456789ab"}}
		was.view.State.Draft = reviewpr.Draft{For: "0123456789abcdef"}
		require.NoError(t, storeThread(t.Context(), successor{at, thread, was.next.apart}, thread, waits))
		err = r.replaceThread(t.Context(), was)

		now, loaded := at.Load(t.Context(), thread)
		require.NoError(t, loaded)
		if string(now.Snapshot) == "old" {
			require.ErrorIs(t, err, errKilled)
			require.Equal(t, old, now)
			next, err := was.next.Load(t.Context(), thread)
			require.NoError(t, err)
			require.Equal(t, string(waits.Snapshot), string(next.Snapshot))
			continue
		}
		require.Equal(t, string(waits.Snapshot), string(now.Snapshot))
		paid, loaded := at.Load(t.Context(), thread+aside+"0123456789ab")
		require.NoError(t, loaded)
		require.Equal(t, old, paid, "its reviewer may be used again")
		if err == nil {
			ids, err := at.Threads(t.Context())
			require.NoError(t, err)
			require.Len(t, ids, 2)
			require.Equal(t, 4, n, "writes")
			return
		}
	}
}

// TestP5_OnlyACopyThatWasCutOffIsFinished has a run stored apart from a thread, which may have gone on, or be decided.
func TestP5_OnlyACopyThatWasCutOffIsFinished(t *testing.T) {
	t.Parallel()
	const thread = "local/x#main..HEAD:0123456789abcdef0123456789abcdef01234567"
	saved := func(snapshot string, journal ...string) graph.Saved {
		s := graph.Saved{Snapshot: []byte(snapshot)}
		for _, record := range journal {
			s.Journal = append(s.Journal, []byte(record))
		}
		return s
	}
	for name, c := range map[string]struct {
		apart     string
		now, left graph.Saved
		finished  bool
	}{
		"cut off":             {thread + aside + kindNext + "x", saved("a", "1"), saved("a", "1", "2"), true},
		"not removed":         {thread + aside + kindAgain + "x", saved("a", "1"), saved("a", "1"), true},
		"of another snapshot": {thread + aside + kindNext + "x", saved("a", "1"), saved("b", "1", "2"), false},
		"of another journal":  {thread + aside + kindNext + "x", saved("a", "1"), saved("a", "3", "2"), false},
		"and went on":         {thread + aside + kindNext + "x", saved("a", "1", "2"), saved("a", "1"), false},
		"what was set aside":  {thread + aside + "x", saved("a", "1"), saved("a", "1", "2"), false},
		"of another's":        {thread + "9" + aside + kindNext + "x", saved("a", "1"), saved("a", "1", "2"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, err := filestore.New(t.TempDir())
			require.NoError(t, err)
			require.NoError(t, storeThread(t.Context(), at, thread, c.now))
			require.NoError(t, storeThread(t.Context(), at, c.apart, c.left))
			id, err := finishReplacement(t.Context(), at, thread)
			require.NoError(t, err)
			stands, err := at.Load(t.Context(), thread)
			require.NoError(t, err)
			_, err = at.Load(t.Context(), c.apart)
			if c.finished {
				require.ErrorIs(t, err, graph.ErrNoThread)
				require.Equal(t, c.apart, id)
				require.Equal(t, c.left, stands)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.now, stands)
		})
	}
}

// unreadable is a store that cannot read once, after left reads.
type unreadable struct {
	wire.Store
	left *int
}

var errDisk = errors.New("input/output error")

func (u unreadable) Load(ctx context.Context, thread string) (graph.Saved, error) {
	if *u.left--; *u.left == -1 {
		return graph.Saved{}, errDisk
	}
	return u.Store.Load(ctx, thread)
}

// TestP4_WhatCannotBeReadForNowIsNotGivenUp has a damaged draft, which --again gives up, and a run that was to take its
// place.
func TestP4_WhatCannotBeReadForNowIsNotGivenUp(t *testing.T) {
	t.Parallel()
	const thread = "local/x~TASK-1:0123456789abcdef0123456789abcdef01234567"
	damaged := graph.Saved{Snapshot: []byte("a draft")}
	for name, tc := range map[string]struct {
		left  int
		again func(*testing.T, *Terminal, Session) error
	}{
		"a ticket's draft": {0, func(t *testing.T, a *Terminal, s Session) error {
			_, err := (&proposing{Terminal: a, Session: s}).draft(t.Context())
			return err
		}},
		"a ticket's draft that is replaced": {3, func(t *testing.T, a *Terminal, s Session) error {
			_, err := (&proposing{Terminal: a, Session: s}).draft(t.Context())
			return err
		}},
		"the ticket's draft that replaces it": {3, func(t *testing.T, a *Terminal, s Session) error {
			p := &proposing{Terminal: a, Session: s}
			p.last.State.Facts.Subject.Digest = "0123"
			_, err := p.replaceThread(t.Context(), driver.Report{Running: true})
			return err
		}},
		"the review that replaces one": {0, func(t *testing.T, a *Terminal, s Session) error {
			r := Run{Terminal: a, Session: s, reviewer: &wire.Reviewer{Rules: true}}
			_, err := r.successor(t.Context(), damaged)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, err := filestore.New(t.TempDir())
			require.NoError(t, err)
			a := &Terminal{Front: driver.NewFront(driver.Process{}), Options: &Options{}}
			a.Anew = true
			next := successorPrefix(thread, true, damaged)
			require.NoError(t, storeThread(t.Context(), at, thread, damaged))
			require.NoError(t, storeThread(t.Context(), at, next+implement.Digest(ticket.Ticket{})[:12],
				graph.Saved{Snapshot: []byte("another")}))
			before, err := at.Threads(t.Context())
			require.NoError(t, err)
			require.ErrorIs(t, tc.again(t, a, Session{Store: unreadable{at, &tc.left}, Thread: thread}), errDisk)
			after, err := at.Threads(t.Context())
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}
