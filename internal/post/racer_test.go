package post_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
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
	scattered bool          // each claim has its own lag
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

// racer is one job of the race, with its own chances.
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
		time.Sleep(before) // of the synctest bubble's clock
		r.mu.Lock()
		act()
		r.mu.Unlock()
		time.Sleep(behind) // of the synctest bubble's clock
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
			if c.Record.Thread != r.record.Thread {
				continue // of another instance
			}
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

func (r *racer) Stands(ctx context.Context, _ github.Review, _ marker.Review) (bool, error) {
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

func (r *racer) CreatePending(ctx context.Context, _ pull.Ref, _, body string,
	comments []write.Comment) (int64, string, error) {
	var id int64
	r.mu.Lock()
	free := r.holds(r.account, 0) == nil
	r.mu.Unlock()
	err := r.write(ctx, func() error {
		if taken := r.holds(r.account, 0) != nil; taken && !(r.loose && free) {
			return write.ErrPending
		}
		id = int64(len(r.reviews) + 1)
		h := &held{Review: github.Review{ID: id, Body: body, UserType: "Bot", URL: fmt.Sprint(id)}, comments: comments,
			account: r.account, made: time.Now()}
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

// decide does what a deciding job does after its checks.
func (r *racer) decide(ctx context.Context) error {
	q := request()
	if r.record.Thread != "" {
		q.Thread, q.Digest = r.record.Thread, r.record.Digest
	}
	q.Review.Findings = finding.Kept(finding.Apply(decided(r.record), q.Review.Findings))
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
