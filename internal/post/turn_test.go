package post_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
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

const me = 7 // the run of the job under test

func claim(id, run int64, live bool, r decision.Record) post.Claim {
	return post.Claim{ID: id, Run: run, Live: live, Record: r}
}

// turn lets the job decide; claims and posted say what it sees at a second.
func turn(t *testing.T, run int64, mine decision.Record, claims func(second int) []post.Claim, posted func(second int) bool) (waited time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		second := func() int { return int(time.Since(began) / time.Second) }
		err = post.Turn(t.Context(), post.Race{Run: run, Record: mine,
			Claims: func(context.Context) ([]post.Claim, error) { return claims(second()), nil },
			Posted: func(context.Context, []post.Claim) (bool, error) { return posted != nil && posted(second()), nil }})
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
		claims func(second int) []post.Claim
		posted func(second int) bool
		want   time.Duration
	}{
		"alone":                              {me, func(int) []post.Claim { return []post.Claim{own} }, nil, 0},
		"beside another commit's":            {me, func(int) []post.Claim { return []post.Claim{own, claim(4, 8, true, other)} }, nil, 0},
		"behind another draft of the commit": {me, func(s int) []post.Claim { return []post.Claim{own, claim(4, 8, s < 20, sibling)} }, nil, 30 * time.Second},
		"again in a later attempt":           {me, func(int) []post.Claim { return []post.Claim{own, claim(6, me, true, yes())} }, nil, 0},
		"nothing could be stored":            {0, func(int) []post.Claim { return nil }, nil, 0},
		"its claim is listed late":           {me, func(s int) []post.Claim { return []post.Claim{own}[:min(s/3, 1)] }, nil, 3 * time.Second},
		"its claim is never listed":          {me, func(int) []post.Claim { return nil }, nil, 10 * time.Second},
		"first of two":                       {me, func(int) []post.Claim { return []post.Claim{own, claim(6, 8, true, yes())} }, nil, 10 * time.Second},
		"first, and it appears":              {me, func(int) []post.Claim { return []post.Claim{own, claim(6, 8, true, yes())} }, func(s int) bool { return s >= 4 }, 4 * time.Second},
		"behind one that ended":              {me, func(int) []post.Claim { return []post.Claim{claim(4, 8, false, yes()), own} }, nil, 10 * time.Second},
		"behind one that ends":               {me, func(s int) []post.Claim { return []post.Claim{claim(4, 8, s < 30, yes()), own} }, nil, 40 * time.Second},
		"behind, and it appears":             {me, func(int) []post.Claim { return []post.Claim{claim(4, 8, true, yes()), own} }, func(s int) bool { return s >= 20 }, 20 * time.Second},
		"behind one that lives on":           {me, func(int) []post.Claim { return []post.Claim{claim(4, 8, true, yes()), own} }, nil, 2 * time.Minute},
		"behind two that live on":            {me, func(int) []post.Claim { return []post.Claim{claim(3, 9, true, yes()), claim(4, 8, true, yes()), own} }, nil, 4 * time.Minute},
		"behind two, one ends late": {me, func(s int) []post.Claim {
			return []post.Claim{claim(3, 9, s < 125, yes()), claim(4, 8, true, yes()), own}
		}, nil, 4 * time.Minute},
		"behind a run's attempts": {me, func(int) []post.Claim { return []post.Claim{claim(3, 8, true, yes()), claim(4, 8, true, yes()), own} }, nil, 2 * time.Minute},
		"not stored, one is live": {0, func(int) []post.Claim { return []post.Claim{claim(4, 8, true, yes())} }, nil, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waited, err := turn(t, c.run, yes(), c.claims, c.posted)
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
		claims []post.Claim
		want   string // of the refusal; "" where it goes
	}{
		"approved, now rejected":       {no(), []post.Claim{claim(1, 8, false, yes()), claim(2, me, true, no())}, "approve by rita"},
		"rejected, now approved":       {yes(), []post.Claim{claim(1, 8, true, no()), claim(2, me, true, yes())}, "abort by eve"},
		"by an attempt of its own":     {yes(), []post.Claim{claim(1, me, true, no()), claim(2, me, true, yes())}, "abort by eve"},
		"whatever the order listed":    {yes(), []post.Claim{claim(2, me, true, yes()), claim(1, 8, true, no())}, "abort by eve"},
		"with other changes":           {yes(), []post.Claim{claim(1, 8, false, yes(decision.Drop{ID: "F1"})), claim(2, me, true, yes())}, "with other changes"},
		"withdrawn":                    {yes(), []post.Claim{claim(1, 8, false, withdrawn), claim(2, me, true, yes())}, "decide the newer draft, code 58d1e0c2a9b7f346"},
		"withdrawn, now rejected":      {no(), []post.Claim{claim(1, 8, false, withdrawn), claim(2, me, true, no())}, "was withdrawn"},
		"approved, now withdrawn":      {withdrawn, []post.Claim{claim(1, 8, true, yes()), claim(2, me, true, withdrawn)}, "approve by rita"},
		"rejected, now withdrawn":      {withdrawn, []post.Claim{claim(1, 8, true, no()), claim(2, me, true, withdrawn)}, ""},
		"rejected twice, nobody waits": {no(), []post.Claim{claim(1, 8, true, no()), claim(2, me, true, no())}, ""},
		"a younger one does not":       {no(), []post.Claim{claim(1, me, true, no()), claim(2, 8, true, no())}, ""},
		"another draft's does not":     {yes(), []post.Claim{claim(1, 8, true, decision.Record{Digest: "x", Decision: decision.Abort}), claim(2, me, true, yes())}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waited, err := turn(t, me, c.mine, func(int) []post.Claim { return c.claims }, nil)
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
	waited, err := turn(t, me, no(), func(int) []post.Claim { return []post.Claim{claim(1, me, true, no()), claim(2, 8, true, yes())} },
		func(s int) bool { return s >= 2 })
	refused(t, err, "posted before")
	require.Equal(t, 5*time.Second, waited)
}

func TestP5_AClaimThatAppearsWhileWaitingIsHeard(t *testing.T) {
	t.Parallel()
	_, err := turn(t, me, yes(), func(s int) []post.Claim {
		list := []post.Claim{claim(5, me, true, yes()), claim(6, 8, true, yes())}
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
	two := []post.Claim{claim(1, me, true, yes()), claim(2, 8, true, yes())}
	for name, r := range map[string]post.Race{
		"list": {Claims: func(context.Context) ([]post.Claim, error) { return nil, broken }},
		"look": {Claims: func(context.Context) ([]post.Claim, error) { return two, nil }, Posted: func(context.Context, []post.Claim) (bool, error) { return false, broken }},
	} {
		r.Run, r.Record = me, yes()
		require.ErrorIs(t, post.Turn(t.Context(), r), broken, name)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r := post.Race{Run: me, Record: yes(), Claims: func(context.Context) ([]post.Claim, error) { return two, nil },
		Posted: func(context.Context, []post.Claim) (bool, error) { return false, nil }}
	require.ErrorIs(t, post.Turn(ended, r), context.Canceled, "wait")
}

func TestP5_AReviewSeenWhileWaitingIsNotForgotten(t *testing.T) {
	t.Parallel()
	p, q := &page{}, request()
	first, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	late := &stale{page: p, fresh: 3} // behind the first look and the one behind the creation
	q.Race = &post.Race{Run: me, Record: yes(), Claims: func(context.Context) ([]post.Claim, error) {
		return []post.Claim{claim(1, 8, true, yes()), claim(2, me, true, yes())}, nil
	}}
	again, err := post.Review(t.Context(), late, p, q)
	require.NoError(t, err)
	require.Equal(t, post.Posted{URL: first.URL, Body: first.Body, Before: true}, again)
	require.Len(t, p.reviews, 1)
}

// stale is a page of which one listing alone is up to date.
type stale struct {
	*page
	fresh, n int
}

func (s *stale) Reviews(ctx context.Context, ref pull.Ref) ([]github.Review, error) {
	if s.n++; s.n != s.fresh {
		return nil, nil
	}
	return s.page.Reviews(ctx, ref)
}
