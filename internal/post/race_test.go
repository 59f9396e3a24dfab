package post_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
)

// site is GitHub as racing jobs see it: requests take their time and act at some
// moment of it, whether or not their sender lives; every listing is of some moment
// before now. It never shows a claim and hides an older one, unless it is scattered. It
// keeps one pending review of an account, unless it is loose: then two requests at one
// instant do not see each other.
type site struct {
	mu        sync.Mutex
	slow      time.Duration // at most, of a request
	lag       time.Duration // at most, of a listing
	scattered bool          // each claim has a lag of its own
	loose     bool
	accounts  []string // of the jobs' tokens
	claims    []handoff.Claim
	at        map[int64]time.Time // of claims
	reviews   []*held
	done      map[int64]time.Time // of runs
}

// held is a review with its history; zero times are none.
type held struct {
	github.Review
	comments       []write.Comment
	account        string
	made, out, off time.Time
}

// submitted are the reviews that anybody sees.
func (s *site) submitted() (n int) {
	for _, h := range s.reviews {
		if !h.out.IsZero() {
			n++
		}
	}
	return n
}

// racer is one job of the race, with chances of its own.
type racer struct {
	*site
	*rand.Rand
	run     int64
	account string
	record  decision.Record
	dead    chan struct{} // closed when it is killed: nothing is sent any more
	err     error
	posted  post.Posted
	took    time.Duration
}

var errKilled = errors.New("killed")

// request takes its time, and acts though its sender dies meanwhile: what act sets may
// be read only where there is no error.
func (r *racer) request(ctx context.Context, most time.Duration, act func()) error {
	select {
	case <-r.dead:
		return errKilled
	case <-ctx.Done():
		return ctx.Err()
	default:
	}
	before, behind := time.Duration(r.Int64N(int64(most)/2)), time.Duration(r.Int64N(int64(most)/2))
	acted := make(chan struct{})
	go func() {
		time.Sleep(before)
		r.mu.Lock()
		act()
		r.mu.Unlock()
		time.Sleep(behind)
		close(acted)
	}()
	select {
	case <-acted:
		return nil
	case <-r.dead:
		return errKilled
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *racer) list(ctx context.Context) ([]handoff.Claim, error) {
	var list []handoff.Claim
	lags := rand.New(rand.NewPCG(r.Uint64(), 0))
	err := r.request(ctx, r.slow, func() {
		moment := time.Now().Add(-time.Duration(lags.Int64N(int64(r.lag) + 1)))
		for _, c := range r.claims {
			if r.scattered {
				moment = time.Now().Add(-time.Duration(lags.Int64N(int64(r.lag) + 1)))
			}
			if r.at[c.ID].After(moment) {
				continue
			}
			end, over := r.done[c.Run]
			c.Live = !over || end.After(time.Now())
			list = append(list, c)
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (r *racer) Reviews(ctx context.Context, _ pull.Ref) ([]github.Review, error) {
	var list []github.Review
	lag := time.Duration(r.Int64N(int64(r.lag) + 1))
	err := r.request(ctx, r.slow, func() {
		moment := time.Now().Add(-lag)
		for _, h := range r.reviews {
			is := h.Review
			is.State = "COMMENTED"
			if h.out.IsZero() || h.out.After(moment) {
				is.State = "PENDING"
			}
			gone := !h.off.IsZero() && !h.off.After(moment)
			if !h.made.After(moment) && !gone && (is.State != "PENDING" || h.account == r.account) {
				list = append(list, is)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (r *racer) CommentsOf(ctx context.Context, _ pull.Ref, id int64) ([]github.ReviewComment, error) {
	var list []github.ReviewComment
	err := r.request(ctx, r.slow, func() {
		for _, c := range r.reviews[id-1].comments {
			list = append(list, github.ReviewComment{Path: c.Path, Body: c.Body})
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (r *racer) Stands(ctx context.Context, _ github.Review, _ render.Marker) (bool, error) {
	return true, ctx.Err()
}

func (r *racer) Pull(ctx context.Context, _ pull.Ref) (pull.Pull, error) {
	return pull.Pull{State: "open", HeadSHA: head}, r.request(ctx, r.slow, func() {})
}

// write is a request that may fail before it acts, or lose its answer. A person who
// stops the process stops no request that is out.
func (r *racer) write(ctx context.Context, act func() error) error {
	fails, loses := r.IntN(10) == 0, r.IntN(5) == 0
	var said error
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err := r.request(context.WithoutCancel(ctx), r.slow, func() {
		if !fails {
			said = act()
		}
	})
	switch {
	case err != nil:
		return err
	case fails || loses:
		return write.ErrUnknown
	}
	return said
}

// holds finds the pending review of an account, or of an id where one is given.
func (s *site) holds(account string, id int64) *held {
	for _, h := range s.reviews {
		if h.account == account && h.out.IsZero() && h.off.IsZero() && (id == 0 || h.ID == id) {
			return h
		}
	}
	return nil
}

func (r *racer) CreatePending(ctx context.Context, _ pull.Ref, _, body string, comments []write.Comment) (int64, string, error) {
	var id int64
	r.mu.Lock()
	free := r.holds(r.account, 0) == nil
	r.mu.Unlock()
	err := r.write(ctx, func() error {
		if taken := r.holds(r.account, 0) != nil; taken && !(r.loose && free) {
			return write.ErrPending
		}
		id = int64(len(r.reviews) + 1)
		h := &held{Review: github.Review{ID: id, Body: body, UserType: "Bot", URL: fmt.Sprint(id)}, comments: comments, account: r.account, made: time.Now()}
		r.reviews = append(r.reviews, h)
		return nil
	})
	if err != nil {
		return 0, "", err
	}
	return id, fmt.Sprint(id), nil
}

func (r *racer) Submit(ctx context.Context, _ pull.Ref, id int64, _ string) (string, error) {
	return fmt.Sprint(id), r.write(ctx, func() error {
		h := r.holds(r.account, id)
		if h == nil {
			return write.ErrGone
		}
		h.out = time.Now()
		return nil
	})
}

func (r *racer) DeletePending(ctx context.Context, _ pull.Ref, id int64) error {
	return r.write(ctx, func() error {
		h := r.holds(r.account, id)
		if h == nil {
			return write.ErrGone
		}
		h.off = time.Now()
		return nil
	})
}

// claim stores the decision, which gets the next id when it is there. An earlier one
// of the run stands.
func (r *racer) claim(ctx context.Context, record decision.Record) error {
	return r.request(ctx, r.slow, func() {
		if !slices.ContainsFunc(r.claims, func(c handoff.Claim) bool { return c.Run == r.run }) {
			id := int64(len(r.claims) + 1)
			r.claims, r.at[id] = append(r.claims, handoff.Claim{ID: id, Run: r.run, Record: record}), time.Now()
		}
	})
}

// decide is what a deciding job does behind its checks.
func (r *racer) decide(ctx context.Context) error {
	q := request()
	q.Review.Findings = finding.Kept(decided(r.record).Apply(q.Review.Findings))
	q.Race = &handoff.Race{Run: r.run, Record: r.record, Claims: r.list, Claim: r.claim}
	on, err := r.list(ctx)
	if err == nil {
		err = handoff.Governed(on, r.record)
	}
	if err != nil {
		return err
	}
	if r.record.Decision == decision.Abort {
		if err := r.claim(ctx, r.record); err != nil {
			return err
		}
		race := *q.Race
		race.Posted = func(ctx context.Context, _ []handoff.Claim) (bool, error) {
			_, found, err := post.Look(ctx, r, q)
			return found, err
		}
		return handoff.Turn(ctx, race)
	}
	r.posted, err = post.Review(ctx, r, r, q)
	return err
}

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
				time.Sleep(start)
				for again := true; again; {
					r := &racer{site: s, Rand: chances, run: int64(100 - i), account: s.accounts[i%len(s.accounts)], record: record, dead: make(chan struct{})}
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
		time.Sleep(time.Minute) // until what is out has acted
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
	return &site{slow: []time.Duration{600 * time.Millisecond, 5 * time.Second}[of/2%2], lag: time.Duration(of%2) * 5 * time.Second}
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
				require.True(t, errors.Is(r.err, context.Canceled) || errors.Is(r.err, errKilled) || errors.Is(r.err, write.ErrUnknown), "seed %d: %v", seed, r.err)
			}
		}
		require.LessOrEqual(t, s.submitted(), 1, "seed %d", seed)
		require.True(t, ended == 0 || s.submitted() == 1, "seed %d: who says posted has posted", seed)
		posted += s.submitted()
	}
	slices.Sort(took)
	t.Logf("%d races of two or three jobs, %d reviews; where GitHub is quick a job took %v, at most %v", *races, posted, took[len(took)/2], took[len(took)-1])
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
		require.False(t, s.submitted() == 1 && taken[fmt.Sprint(decision.Abort, []decision.Drop(nil))], "seed %d: posted, and told that it was rejected", seed)
		for what := range taken {
			held[what]++
		}
	}
	t.Logf("%d races: %v", *races, held)
	require.Len(t, held, 3, "each decision wins some")
}

// command has a person's command stopped, killed or cut off from its store while it
// posts, and run again at once, until it says that it posted. One that was cut off from
// its store may run on beside the next. It gives how often it was run again.
func command(t *testing.T, seed uint64, s *site) (again int) {
	synctest.Test(t, func(t *testing.T) {
		chances := rand.New(rand.NewPCG(seed, 1))
		var beside sync.WaitGroup
		for ; ; again++ {
			r := &racer{site: s, Rand: rand.New(rand.NewPCG(seed, uint64(2+again))), account: "rita", dead: make(chan struct{})}
			tried := again > 0
			resume := func(ctx context.Context) (err error) {
				q := request()
				q.Tried = tried
				r.posted, err = post.Review(ctx, r, r, q)
				return err
			}
			if again < 3 && chances.IntN(4) == 0 {
				beside.Go(func() { r.end(t.Context(), resume) })
				time.Sleep(time.Duration(chances.Int64N(int64(3 * s.slow))))
				continue
			}
			if r.end(t.Context(), resume); r.err == nil {
				break
			}
		}
		beside.Wait()
		time.Sleep(time.Minute)
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
		"jobs of two accounts":                      {func() *site { return &site{slow: late, lag: late, accounts: []string{"rita"}} }, 1},
		"jobs of two accounts, such a listing":      {func() *site { return &site{lag: late, scattered: true, accounts: []string{"rita"}} }, 10},
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
	late := &stale{page: p, fresh: 3} // behind the first look and the one behind the creation
	q.Race = &handoff.Race{Run: me, Record: yes(), Claims: func(context.Context) ([]handoff.Claim, error) {
		return []handoff.Claim{claim(1, 8, true, yes()), claim(2, me, true, yes())}, nil
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
