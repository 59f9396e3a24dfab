package handoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
)

func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	var r *problem.Error
	require.ErrorAs(t, err, &r)
	require.Equal(t, 13, r.Check)
	require.Equal(t, "next", r.Rows[len(r.Rows)-1][0], "P12: the last row is what to do")
	for _, w := range words {
		require.ErrorContains(t, err, w)
	}
}

const digest = "0123012301230123012301230123012301230123012301230123012301230123"

func yes(drop ...decision.Drop) decision.Record {
	return decision.Record{Digest: digest, Code: digest[:16], Decision: decision.Approve, By: "rita", Dropped: drop}
}

func no() decision.Record {
	return decision.Record{Digest: digest, Code: digest[:16], Decision: decision.Abort, By: "eve"}
}

const me = 7 // the run of the job under test

func claim(id, run int64, live bool, r decision.Record) handoff.Claim {
	return handoff.Claim{ID: id, Run: run, Live: live, Record: r}
}

// done is the claim of a run that has succeeded.
func done(id, run int64, r decision.Record) handoff.Claim {
	return handoff.Claim{ID: id, Run: run, Done: true, Record: r}
}

// turn lets the job decide; claims and posted say what it sees at a second.
func turn(t *testing.T, run int64, mine decision.Record, claims func(second int) []handoff.Claim,
	posted func(second int) bool) (waited time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		second := func() int { return int(time.Since(began) / time.Second) }
		err = handoff.Turn(t.Context(), handoff.Race{Run: run, Record: mine,
			Claims: func(context.Context) ([]handoff.Claim, error) { return claims(second()), nil },
			Posted: func(context.Context, []handoff.Claim) (bool, error) {
				return posted != nil && posted(second()), nil
			}})
		waited = time.Since(began)
	})
	return waited, err
}

func TestP5_WhoGoesWhen(t *testing.T) {
	t.Parallel()
	own := claim(5, me, true, yes())
	other := yes()
	other.Digest, other.Thread = "another draft's", "another commit's"
	sibling := yes()
	sibling.Digest = "another draft's"
	for name, c := range map[string]struct {
		run    int64
		claims func(second int) []handoff.Claim
		posted func(second int) bool
		want   time.Duration
	}{
		"alone": {me, func(int) []handoff.Claim { return []handoff.Claim{own} }, nil, 0},
		"beside another commit's": {me, func(int) []handoff.Claim {
			return []handoff.Claim{own, claim(4, 8, true, other)}
		}, nil, 0},
		"behind another draft of the commit": {me, func(s int) []handoff.Claim {
			return []handoff.Claim{own, claim(4, 8, s < 20, sibling)}
		}, nil, 30 * time.Second},
		"again in a later attempt": {me, func(int) []handoff.Claim {
			return []handoff.Claim{own, claim(6, me, true, yes())}
		}, nil, 0},
		"nothing could be stored": {0, func(int) []handoff.Claim { return nil }, nil, 0},
		"its claim is listed late": {me, func(s int) []handoff.Claim {
			return []handoff.Claim{own}[:min(s/3, 1)]
		}, nil, 3 * time.Second},
		"its claim is never listed": {me, func(int) []handoff.Claim { return nil }, nil, 10 * time.Second},
		"first of two": {me, func(int) []handoff.Claim {
			return []handoff.Claim{own, claim(6, 8, true, yes())}
		}, nil, 10 * time.Second},
		"first, and it appears": {me, func(int) []handoff.Claim {
			return []handoff.Claim{own, claim(6, 8, true, yes())}
		}, func(s int) bool { return s >= 4 }, 4 * time.Second},
		"behind one that ended": {me, func(int) []handoff.Claim {
			return []handoff.Claim{claim(4, 8, false, yes()), own}
		}, nil, 10 * time.Second},
		"behind one that ends": {me, func(s int) []handoff.Claim {
			return []handoff.Claim{claim(4, 8, s < 30, yes()), own}
		}, nil, 40 * time.Second},
		"behind, and it appears": {me, func(int) []handoff.Claim {
			return []handoff.Claim{claim(4, 8, true, yes()), own}
		}, func(s int) bool { return s >= 20 }, 20 * time.Second},
		"behind one that lives on": {me, func(int) []handoff.Claim {
			return []handoff.Claim{claim(4, 8, true, yes()), own}
		}, nil, 2 * time.Minute},
		"behind two that live on": {me, func(int) []handoff.Claim {
			return []handoff.Claim{claim(3, 9, true, yes()), claim(4, 8, true, yes()), own}
		}, nil, 4 * time.Minute},
		"behind two, one ends late": {me, func(s int) []handoff.Claim {
			return []handoff.Claim{claim(3, 9, s < 125, yes()), claim(4, 8, true, yes()), own}
		}, nil, 4 * time.Minute},
		"behind a run's attempts": {me, func(int) []handoff.Claim {
			return []handoff.Claim{claim(3, 8, true, yes()), claim(4, 8, true, yes()), own}
		}, nil, 2 * time.Minute},
		"not stored, one is live": {0, func(int) []handoff.Claim {
			return []handoff.Claim{claim(4, 8, true, yes())}
		}, nil, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waited, err := turn(t, c.run, yes(), c.claims, c.posted)
			require.NoError(t, err)
			require.Equal(t, c.want, waited)
		})
	}
}

func TestP5_WhoseClaimIsWaitedFor(t *testing.T) {
	t.Parallel()
	held, before, sibling, elsewhere := yes(), yes(), yes(), no()
	held.Review, before.Review = 3, 2
	sibling.Digest, elsewhere.Digest = "another draft's", "another draft's"
	for name, c := range map[string]struct {
		mine   decision.Record
		claims func(second int) []handoff.Claim
		want   time.Duration
	}{
		"none that holds the same review": {held, func(int) []handoff.Claim {
			return []handoff.Claim{claim(4, 8, true, held), claim(5, me, true, held)}
		}, 0},
		"an earlier attempt's of another review": {held, func(int) []handoff.Claim {
			return []handoff.Claim{claim(4, me, true, before), claim(5, me, true, held)}
		}, 10 * time.Second},
		"none of an earlier attempt without one": {held, func(int) []handoff.Claim {
			return []handoff.Claim{claim(4, me, true, yes()), claim(5, me, true, held)}
		}, 0},
		"none that rejects another draft": {yes(), func(int) []handoff.Claim {
			return []handoff.Claim{claim(4, 8, true, elsewhere), claim(5, me, true, yes())}
		}, 0},
		"a younger one that rejects this": {yes(), func(s int) []handoff.Claim {
			return []handoff.Claim{claim(5, me, true, yes()), claim(6, 8, s < 20, no())}
		}, 30 * time.Second},
		"a younger one of another draft": {yes(), func(s int) []handoff.Claim {
			return []handoff.Claim{claim(5, me, true, yes()), claim(6, 8, s < 20, sibling)}
		}, 10 * time.Second},
		"its own, beside that of another draft": {yes(), func(int) []handoff.Claim {
			return []handoff.Claim{claim(4, me, true, sibling)}
		}, 10 * time.Second},
		"none beside its own of two drafts": {yes(), func(int) []handoff.Claim {
			return []handoff.Claim{claim(4, me, true, yes()), claim(5, me, true, sibling)}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waited, err := turn(t, me, c.mine, c.claims, nil)
			require.NoError(t, err)
			require.Equal(t, c.want, waited)
		})
	}
}

func TestCheck13_TheOldestClaimGoverns(t *testing.T) {
	t.Parallel()
	withdrawn := no().Withdraws("58d1e0c2a9b7f346")
	for name, c := range map[string]struct {
		mine   decision.Record
		claims []handoff.Claim
		want   string // of the refusal; "" where it goes
	}{
		"approved, now rejected": {no(), []handoff.Claim{claim(1, 8, false, yes()), claim(2, me, true, no())},
			"approve by rita"},
		"rejected, now approved": {yes(), []handoff.Claim{claim(1, 8, true, no()), claim(2, me, true, yes())},
			"abort by eve"},
		"by an attempt of its own": {yes(), []handoff.Claim{claim(1, me, true, no()), claim(2, me, true, yes())},
			"abort by eve"},
		"whatever the order listed": {yes(), []handoff.Claim{claim(2, me, true, yes()), claim(1, 8, true, no())},
			"abort by eve"},
		"with other changes": {yes(), []handoff.Claim{claim(1, 8, false, yes(decision.Drop{ID: "F1"})),
			claim(2, me, true, yes())}, "with other changes"},
		"withdrawn": {yes(), []handoff.Claim{claim(1, 8, false, withdrawn),
			claim(2, me, true, yes())}, "decide the newer draft, code 58d1e0c2a9b7f346"},
		"withdrawn, now rejected": {no(), []handoff.Claim{claim(1, 8, false, withdrawn), claim(2, me, true, no())},
			"was withdrawn"},
		"approved, now withdrawn": {withdrawn,
			[]handoff.Claim{claim(1, 8, true, yes()), claim(2, me, true, withdrawn)}, "approve by rita"},
		"rejected, now withdrawn": {withdrawn,
			[]handoff.Claim{claim(1, 8, true, no()), claim(2, me, true, withdrawn)}, ""},
		"rejected twice, nobody waits": {no(), []handoff.Claim{claim(1, 8, true, no()), claim(2, me, true, no())}, ""},
		"a younger one does not":       {no(), []handoff.Claim{claim(1, me, true, no()), claim(2, 8, true, no())}, ""},
		"a younger one that was carried out": {yes(), []handoff.Claim{claim(1, me, true, yes()), done(2, 8, no())},
			"abort by eve"},
		"carried out with other changes": {yes(), []handoff.Claim{claim(1, me, true, yes()),
			done(2, 8, yes(decision.Drop{ID: "F1"}))}, "with other changes"},
		"the same, carried out":  {no(), []handoff.Claim{claim(1, me, true, no()), done(2, 8, no())}, ""},
		"carried out by its own": {yes(), []handoff.Claim{claim(1, me, true, yes()), done(2, me, no())}, ""},
		"withdrawn behind it": {withdrawn, []handoff.Claim{claim(1, me, true, withdrawn), done(2, 8, no())},
			""},
		"another draft's does not": {yes(), []handoff.Claim{claim(1, 8, true,
			decision.Record{Digest: "x", Decision: decision.Abort}), claim(2, me, true, yes())}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waited, err := turn(t, me, c.mine, func(int) []handoff.Claim { return c.claims }, nil)
			require.Zero(t, waited)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			refused(t, err, c.want)
		})
	}
}

func TestCheck13_AnAbortComesTooLateForAPostedReview(t *testing.T) {
	t.Parallel()
	waited, err := turn(t, me, no(), func(int) []handoff.Claim {
		return []handoff.Claim{claim(1, me, true, no()), claim(2, 8, true, yes())}
	},
		func(s int) bool { return s >= 2 })
	refused(t, err, "already been posted")
	require.Equal(t, 5*time.Second, waited)
}

func TestP5_AClaimThatAppearsWhileWaitingIsHeard(t *testing.T) {
	t.Parallel()
	_, err := turn(t, me, yes(), func(s int) []handoff.Claim {
		list := []handoff.Claim{claim(5, me, true, yes()), claim(6, 8, true, yes())}
		if s >= 9 {
			list = append(list, claim(4, 9, false, no()))
		}
		return list
	}, nil)
	refused(t, err, "abort by eve")
}

func TestP5_WhoCannotListOrWaitDoesNotGo(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	two := []handoff.Claim{claim(1, me, true, yes()), claim(2, 8, true, yes())}
	for name, r := range map[string]handoff.Race{
		"list": {Claims: func(context.Context) ([]handoff.Claim, error) { return nil, broken }},
		"look": {Claims: func(context.Context) ([]handoff.Claim, error) {
			return two, nil
		}, Posted: func(context.Context, []handoff.Claim) (bool, error) { return false, broken }},
	} {
		r.Run, r.Record = me, yes()
		require.ErrorIs(t, handoff.Turn(t.Context(), r), broken, name)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r := handoff.Race{Run: me, Record: yes(), Claims: func(context.Context) ([]handoff.Claim, error) {
		return two, nil
	},
		Posted: func(context.Context, []handoff.Claim) (bool, error) { return false, nil }}
	require.ErrorIs(t, handoff.Turn(ended, r), context.Canceled, "wait")
}
