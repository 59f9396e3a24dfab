package post_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
)

// site is GitHub as racing jobs see it: every listing is of some moment before
// now. It never shows a claim and hides an older one, unless it is scattered.
type site struct {
	mu        sync.Mutex
	lag       time.Duration // at most, of a listing
	scattered bool          // each claim has a lag of its own
	claims    []post.Claim
	reviews   []github.Review
	at        map[int64]time.Time // of claims, and of reviews under -ID
	done      map[int64]time.Time // of runs
}

// racer is one job of the race, with chances of its own.
type racer struct {
	*site
	*rand.Rand
	run    int64
	record decision.Record
	unseen int // older claims that its last listing did not show
	err    error
	posted post.Posted
}

func (r *racer) rest(ctx context.Context, most time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(r.Int64N(int64(most)))):
		return nil
	}
}

// moment is what a listing shows.
func (r *racer) moment() time.Time { return time.Now().Add(-time.Duration(r.Int64N(int64(r.lag) + 1))) }

func (r *racer) list(ctx context.Context) ([]post.Claim, error) {
	if err := r.rest(ctx, 300*time.Millisecond); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unseen = 0
	var list []post.Claim
	for moment, i := r.moment(), 0; i < len(r.claims); i++ {
		c := r.claims[i]
		if r.scattered {
			moment = r.moment()
		}
		if r.at[c.ID].After(moment) {
			r.unseen++
			continue
		}
		end, over := r.done[c.Run]
		c.Live = !over || end.After(time.Now())
		list = append(list, c)
	}
	return list, nil
}

func (r *racer) Reviews(ctx context.Context, _ pull.Ref) ([]github.Review, error) {
	err := r.rest(ctx, 300*time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []github.Review
	for moment, i := r.moment(), 0; i < len(r.reviews); i++ {
		if !r.at[-r.reviews[i].ID].After(moment) {
			list = append(list, r.reviews[i])
		}
	}
	return list, err
}

func (r *racer) Stands(ctx context.Context, _ github.Review, _ render.Marker) (bool, error) {
	return true, ctx.Err()
}

func (r *racer) Pull(ctx context.Context, _ pull.Ref) (pull.Pull, error) {
	return pull.Pull{State: "open", HeadSHA: head}, r.rest(ctx, 300*time.Millisecond)
}

// CreateReview takes effect also for a job that was killed meanwhile.
func (r *racer) CreateReview(ctx context.Context, _ pull.Ref, _, body string, _ []write.Comment) (int64, string, error) {
	if err := r.rest(ctx, 100*time.Millisecond); err != nil {
		return 0, "", err
	}
	time.Sleep(time.Duration(r.Int64N(int64(2 * time.Second)))) // of the bubble's clock, which leaps
	r.mu.Lock()
	id := int64(len(r.reviews) + 1)
	r.reviews, r.at[-id] = append(r.reviews, github.Review{ID: id, Body: body, UserType: "Bot", URL: fmt.Sprint(id)}), time.Now()
	r.mu.Unlock()
	if r.IntN(5) == 0 {
		return 0, "", write.ErrUnknown
	}
	return id, fmt.Sprint(id), r.rest(ctx, time.Second)
}

// claim stores the decision, which gets the next id when it is there.
func (r *racer) claim(ctx context.Context) error {
	err := r.rest(ctx, 3*time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		id := int64(len(r.claims) + 1)
		r.claims, r.at[id] = append(r.claims, post.Claim{ID: id, Run: r.run, Record: r.record}), time.Now()
	}
	return err
}

// decide is what a deciding job does behind its checks.
func (r *racer) decide(ctx context.Context) error {
	if err := errors.Join(r.rest(ctx, 15*time.Second), r.claim(ctx)); err != nil {
		return err
	}
	q := request()
	q.Review.Findings = decided(r.record).Apply(q.Review.Findings)[len(r.record.Dropped):]
	q.Race = &post.Race{Run: r.run, Record: r.record, Claims: r.list, Wait: wait}
	if r.record.Decision == decision.Abort {
		race := *q.Race
		race.Posted = func(ctx context.Context) (bool, error) {
			_, found, err := post.Look(ctx, r, q)
			return found, err
		}
		return post.Turn(ctx, race)
	}
	var err error
	r.posted, err = post.Review(ctx, r, r, q)
	return err
}

func decided(r decision.Record) decision.Decision {
	return decision.Decision{Verdict: r.Decision, Drop: r.Dropped}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// race lets jobs decide one draft at about one time. Some are killed on the way,
// and their runs end later than the jobs.
func race(t *testing.T, seed uint64, s *site, records []decision.Record) []*racer {
	s.at, s.done = map[int64]time.Time{}, map[int64]time.Time{}
	var racers []*racer
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		for i, record := range records {
			r := &racer{site: s, Rand: rand.New(rand.NewPCG(seed, uint64(i))), run: int64(100 - i), record: record}
			racers = append(racers, r)
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(4) == 0 {
					kill := time.AfterFunc(time.Duration(r.Int64N(int64(30*time.Second))), cancel)
					defer kill.Stop()
				}
				defer cancel()
				r.err = r.decide(ctx)
				s.mu.Lock()
				s.done[r.run] = time.Now().Add(time.Duration(r.Int64N(int64(20 * time.Second))))
				s.mu.Unlock()
			})
		}
		all.Wait()
	})
	return racers
}

func yes(drop ...decision.Drop) decision.Record {
	return decision.Record{Digest: digest, Code: digest[:16], Decision: decision.Approve, By: "rita", Dropped: drop}
}

func no() decision.Record {
	return decision.Record{Digest: digest, Code: digest[:16], Decision: decision.Abort, By: "eve"}
}

const races = 400

func TestP5_T25_RacingJobsPostOneReview(t *testing.T) {
	t.Parallel()
	posted := 0
	for seed := range uint64(races) {
		s := &site{lag: 5 * time.Second}
		ended := 0
		for _, r := range race(t, seed, s, []decision.Record{yes(), yes(), yes()}[:2+seed%2]) {
			if r.err == nil {
				ended++
				require.NotEmpty(t, r.posted.URL)
			} else {
				require.True(t, errors.Is(r.err, context.Canceled) || errors.Is(r.err, write.ErrUnknown), "seed %d: %v", seed, r.err)
			}
		}
		require.LessOrEqual(t, len(s.reviews), 1, "seed %d", seed)
		require.True(t, ended == 0 || len(s.reviews) == 1, "seed %d: who says posted has posted", seed)
		posted += len(s.reviews)
	}
	t.Logf("%d races of two or three jobs, %d reviews", races, posted)
	require.Greater(t, posted, races*9/10)
}

func TestP5_T25_OfRacingDecisionsOneHolds(t *testing.T) {
	t.Parallel()
	mixed := []decision.Record{yes(), no(), yes(decision.Drop{ID: "F1"}), no(), yes()}
	held := map[string]int{}
	for seed := range uint64(races) {
		s := &site{lag: 5 * time.Second}
		from := seed % 3
		taken := map[string]bool{}
		for _, r := range race(t, seed, s, mixed[from:from+2+seed%2]) {
			var refused *checkpoint.Refusal
			switch {
			case r.err == nil:
				taken[fmt.Sprint(r.record.Decision, r.record.Dropped)] = true
			case errors.As(r.err, &refused):
				require.Equal(t, 13, refused.Check, "seed %d", seed)
			}
		}
		require.LessOrEqual(t, len(taken), 1, "seed %d: %v", seed, taken)
		require.LessOrEqual(t, len(s.reviews), 1, "seed %d", seed)
		require.False(t, len(s.reviews) == 1 && taken[fmt.Sprint(decision.Abort, []decision.Drop(nil))], "seed %d: posted, and told that it was rejected", seed)
		for what := range taken {
			held[what]++
		}
	}
	t.Logf("%d races: %v", races, held)
	require.Len(t, held, 3, "each decision wins some")
}

// The window that is left: a listing that shows a job's own claim and hides an
// older one. Nothing else makes two reviews.
func TestP5_TheWindowIsAListingThatHidesAnOlderClaim(t *testing.T) {
	t.Parallel()
	two := 0
	for seed := range uint64(races) {
		s := &site{lag: 5 * time.Second, scattered: true}
		racers := race(t, seed, s, []decision.Record{yes(), yes()})
		if len(s.reviews) > 1 {
			two++
			require.Positive(t, racers[0].unseen+racers[1].unseen, "seed %d", seed)
		}
	}
	t.Logf("%d races under such a listing, %d with two reviews", races, two)
	require.Positive(t, two)
	require.Less(t, two, races/4)
}
