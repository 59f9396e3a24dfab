package post_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

func decided(r decision.Record) decision.Decision {
	return decision.Decision{Verdict: r.Decision, Drop: r.Dropped}
}

// race lets jobs decide one draft at about one time. Some are killed or stopped on the
// way, and their runs end later than the jobs; some of these are run again at once.
func race(t *testing.T, seed uint64, s *site, records []decision.Record) []*racer {
	s.at, s.done = map[int64]time.Time{}, map[int64]time.Time{}
	s.slow = cmp.Or(s.slow, 600*time.Millisecond)
	s.accounts = append(s.accounts, "bot")
	racers := make([]*racer, len(records))
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		for i, record := range records {
			chances := rand.New(rand.NewPCG(seed, uint64(i)))
			start := time.Duration(chances.Int64N(int64(3*time.Second + time.Duration(seed%3)*3*s.slow)))
			all.Go(func() {
				time.Sleep(start) // of the synctest bubble's clock
				for again := true; again; {
					r := &racer{site: s, Rand: chances, run: int64(100 - i), account: s.accounts[i%len(s.accounts)],
						record: record, dead: make(chan struct{})}
					racers[i] = r
					r.end(t.Context(), r.decide)
					again = chances.IntN(2) == 0 && (errors.Is(r.err, errKilled) || errors.Is(r.err, context.Canceled))
				}
				s.mu.Lock()
				s.done[int64(100-i)] = time.Now().Add(time.Duration(chances.Int64N(int64(20 * time.Second))))
				s.mu.Unlock()
			})
		}
		all.Wait()
		time.Sleep(time.Minute) // of the synctest bubble's clock: until what is out has acted
	})
	return racers
}

// end lets a process run to its end, which for one in four is a kill, and for one in
// eight a person who stops it.
func (r *racer) end(ctx context.Context, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	after := time.Duration(r.Int64N(int64(6*r.slow + 20*time.Second)))
	switch r.IntN(8) {
	case 0, 1:
		dies := time.AfterFunc(after, func() { close(r.dead); cancel() })
		defer dies.Stop()
	case 2:
		stops := time.AfterFunc(after, cancel)
		defer stops.Stop()
	}
	began := time.Now()
	r.err = run(ctx)
	r.took = time.Since(began)
}

func yes(drop ...decision.Drop) decision.Record {
	return decision.Record{Digest: digest, Code: digest[:16], Decision: decision.Approve, By: "rita", Dropped: drop}
}

func no() decision.Record {
	return decision.Record{Digest: digest, Code: digest[:16], Decision: decision.Abort, By: "eve"}
}

const me = 7 // the run of the job under test

var races = flag.Int("races", 1000, "how many races of each kind are simulated")

// seconds is a GitHub that takes its time to create and to list, and lists late.
func seconds(of uint64) *site {
	return &site{slow: []time.Duration{600 * time.Millisecond, 5 * time.Second}[of/2%2],
		lag: time.Duration(of%2) * 5 * time.Second}
}

func TestP5_T25_RacingJobsPostOneReview(t *testing.T) {
	t.Parallel()
	posted, took := 0, []time.Duration{}
	for seed := range uint64(*races) {
		s := seconds(seed)
		ended := 0
		for _, r := range race(t, seed, s, []decision.Record{yes(), yes(), yes()}[:2+seed%2]) {
			if r.err == nil {
				ended++
				if s.slow < time.Second && s.lag == 0 {
					took = append(took, r.took)
				}
				require.NotEmpty(t, r.posted.URL)
			} else {
				require.True(t, errors.Is(r.err, context.Canceled) || errors.Is(r.err, errKilled) ||
					errors.Is(r.err, write.ErrUnknown), "seed %d: %v", seed, r.err)
			}
		}
		require.LessOrEqual(t, s.submitted(), 1, "seed %d", seed)
		require.True(t, ended == 0 || s.submitted() == 1, "seed %d: who says posted has posted", seed)
		posted += s.submitted()
	}
	slices.Sort(took)
	t.Logf("%d races of two or three jobs, %d reviews; where GitHub is quick a job took %v, at most %v", *races, posted,
		took[len(took)/2], took[len(took)-1])
	require.Greater(t, posted, *races*9/10)
}

func TestP5_T25_OfRacingDecisionsOneHolds(t *testing.T) {
	t.Parallel()
	mixed := []decision.Record{yes(), no(), yes(decision.Drop{ID: "F1"}), no(), yes()}
	held := map[string]int{}
	for seed := range uint64(*races) {
		s := seconds(seed)
		from := seed % 3
		taken := map[string]bool{}
		for _, r := range race(t, seed, s, mixed[from:from+2+seed%2]) {
			var refused *problem.Error
			switch {
			case r.err == nil:
				taken[fmt.Sprint(r.record.Decision, r.record.Dropped)] = true
			case errors.As(r.err, &refused):
				require.Equal(t, 13, refused.Check, "seed %d", seed)
			}
		}
		require.LessOrEqual(t, len(taken), 1, "seed %d: %v", seed, taken)
		require.LessOrEqual(t, s.submitted(), 1, "seed %d", seed)
		require.False(t, s.submitted() == 1 && taken[fmt.Sprint(decision.Abort, []decision.Drop(nil))],
			"seed %d: posted, and told that it was rejected", seed)
		for what := range taken {
			held[what]++
		}
	}
	t.Logf("%d races: %v", *races, held)
	require.Len(t, held, 3, "each decision wins some")
}

// command has a person's command stopped, killed or cut off from its store while it
// posts, and run again at once, until it says that it posted. One that was cut off from
// its store may still run while the next one does. It returns the number of restarts.
func command(t *testing.T, seed uint64, s *site) (again int) {
	synctest.Test(t, func(t *testing.T) {
		chances := rand.New(rand.NewPCG(seed, 1))
		var beside sync.WaitGroup
		for ; ; again++ {
			r := &racer{site: s, Rand: rand.New(rand.NewPCG(seed, uint64(2+again))), account: "rita",
				dead: make(chan struct{})}
			tried := again > 0
			resume := func(ctx context.Context) (err error) {
				q := request()
				q.Tried = tried
				r.posted, err = post.Review(ctx, r, r, q)
				return err
			}
			if again < 3 && chances.IntN(4) == 0 {
				beside.Go(func() { r.end(t.Context(), resume) })
				time.Sleep(time.Duration(chances.Int64N(int64(3 * s.slow)))) // of the synctest bubble's clock
				continue
			}
			if r.end(t.Context(), resume); r.err == nil {
				break
			}
		}
		beside.Wait()
		time.Sleep(time.Minute) // of the synctest bubble's clock
	})
	return again
}

func TestP5_T25_ACommandThatIsRunAgainPostsOnce(t *testing.T) {
	t.Parallel()
	again := 0
	for seed := range uint64(*races) {
		s := &site{slow: seconds(seed).slow}
		again += command(t, seed, s)
		require.Equal(t, 1, s.submitted(), "seed %d", seed)
	}
	t.Logf("%d commands, run again %d times: one review each", *races, again)
}

// TestP5_T25_InstancesThatAreDecidedAtOnceEachPostTheirs lets jobs of one account post
// the drafts of several instances: GitHub has room for one pending review of all.
func TestP5_T25_InstancesThatAreDecidedAtOnceEachPostTheirs(t *testing.T) {
	t.Parallel()
	posted, wanted := 0, 0
	for seed := range uint64(*races / 4) {
		s := seconds(seed)
		var records []decision.Record
		for _, instance := range []string{"", "docs", "api", "tests"}[:2+seed%3] {
			r := yes()
			r.Thread, r.Digest = pull.ThreadID(ref, instance, head), fmt.Sprintf("%064x", len(records)+1)
			records = append(records, r)
		}
		for _, r := range race(t, seed, s, records) {
			stopped := errors.Is(r.err, context.Canceled) || errors.Is(r.err, errKilled)
			require.True(t, r.err == nil || stopped || errors.Is(r.err, write.ErrUnknown), "seed %d, %s: %v", seed,
				r.record.Thread, r.err)
			reviews := 0
			for _, h := range s.reviews {
				if m, _ := marker.Parse(h.Body); m.Thread == r.record.Thread && !h.out.IsZero() {
					reviews++
				}
			}
			require.LessOrEqual(t, reviews, 1, "seed %d, %s", seed, r.record.Thread)
			require.True(t, r.err != nil || reviews == 1,
				"seed %d, %s: who says posted has posted", seed, r.record.Thread)
			posted, wanted = posted+reviews, wanted+1
		}
	}
	t.Logf("%d drafts of %d races: %d reviews", wanted, *races/4, posted)
	require.Greater(t, posted*10, wanted*8, "the rest was killed")
}

// watched is a page that counts its listings.
type watched struct {
	*page
	looks int
}

func (w *watched) Reviews(ctx context.Context, ref pull.Ref) ([]github.Review, error) {
	w.looks++
	return w.page.Reviews(ctx, ref)
}

// TestP5_WhatADeadJobOfAnotherInstanceLeftIsWaitedForAndTakenAway looks seldom enough
// for a token of a thousand requests an hour.
func TestP5_WhatADeadJobOfAnotherInstanceLeftIsWaitedForAndTakenAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left := request()
		left.Thread, left.Digest = pull.ThreadID(ref, "docs", head), strings.Repeat("d", 64)
		w := &watched{page: &page{}}
		_, _ = post.Review(t.Context(), w.page, dies{w.page}, left)
		require.Equal(t, "PENDING", w.reviews[0].State)
		began := time.Now()
		_, err := post.Review(t.Context(), w, w, request())
		require.NoError(t, err)
		require.Len(t, w.reviews, 1, "what was left is gone, and not posted")
		require.Less(t, time.Since(began), 125*time.Second)
		require.Greater(t, time.Since(began), 119*time.Second)
		require.Less(t, w.looks, 50)
	})
}

// dies is a page of a job that dies before it submits or takes anything away.
type dies struct{ *page }

func (dies) Submit(context.Context, pull.Ref, int64, string) (string, error) { return "", errKilled }
func (dies) DeletePending(context.Context, pull.Ref, int64) error            { return errKilled }

// TestP5_TheWindowsThatAreLeft counts what makes two reviews: listings of a kind that
// nobody has seen of GitHub. Nothing else does.
func TestP5_TheWindowsThatAreLeft(t *testing.T) {
	t.Parallel()
	const late = 5 * time.Second
	for name, c := range map[string]struct {
		site func() *site
		most int // of a hundred races
	}{
		"a claim is listed and an older one is not": {func() *site { return &site{lag: late, scattered: true} }, 1},
		"two are created at one instant":            {func() *site { return &site{slow: late, loose: true} }, 0},
		"jobs of two accounts": {func() *site {
			return &site{slow: late, lag: late, accounts: []string{"rita"}}
		}, 1},
		"jobs of two accounts, such a listing": {func() *site {
			return &site{lag: late, scattered: true, accounts: []string{"rita"}}
		}, 10},
	} {
		two := 0
		for seed := range uint64(*races / 4) {
			s := c.site()
			if race(t, seed, s, []decision.Record{yes(), yes()}); s.submitted() > 1 {
				two++
			}
		}
		t.Logf("%s: %d of %d races with two reviews", name, two, *races/4)
		require.LessOrEqual(t, two*100, c.most**races/4, name)
	}
	two := 0
	for seed := range uint64(*races / 4) {
		s := &site{slow: seconds(seed).slow, lag: late}
		if command(t, seed, s); s.submitted() > 1 {
			two++
		}
	}
	t.Logf("a command that runs on beside the next, reviews listed late: %d of %d with two reviews", two, *races/4)
	require.LessOrEqual(t, two*100, *races/4)
}

func TestP5_AReviewSeenWhileWaitingIsNotForgotten(t *testing.T) {
	t.Parallel()
	p, q := &page{}, request()
	first, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	late := &stale{page: p, fresh: 3} // after the first look and the one after the creation
	q.Race = &handoff.Race{Run: me, Record: yes(), Claims: func(context.Context) ([]handoff.Claim, error) {
		return []handoff.Claim{claim(1, 8, true, yes()), claim(2, me, true, yes())}, nil
	}}
	again, err := post.Review(t.Context(), late, p, q)
	require.NoError(t, err)
	require.Equal(t, post.Posted{URL: first.URL, Before: true}, again)
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
