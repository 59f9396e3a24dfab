package post_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
)

// faulty is a page, and records of decisions, of which one request fails when n others have been made.
type faulty struct {
	*page
	claims []handoff.Claim
	n      int
}

var errFault = errors.New("fault")

func (f *faulty) fails() error {
	if f.n--; f.n == -1 {
		return errFault
	}
	return nil
}

func (f *faulty) Pull(ctx context.Context, to pull.Ref) (pull.Pull, error) {
	if err := f.fails(); err != nil {
		return pull.Pull{}, err
	}
	return f.page.Pull(ctx, to)
}

func (f *faulty) Stands(ctx context.Context, r github.Review, m marker.Review) (bool, error) {
	if err := f.fails(); err != nil {
		return false, err
	}
	return f.page.Stands(ctx, r, m)
}

func (f *faulty) Reviews(ctx context.Context, to pull.Ref) ([]github.Review, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.page.Reviews(ctx, to)
}

func (f *faulty) CommentsOf(ctx context.Context, to pull.Ref, id int64) ([]github.ReviewComment, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.page.CommentsOf(ctx, to, id)
}

func (f *faulty) CreatePending(ctx context.Context, to pull.Ref, commit, body string,
	comments []write.Comment) (int64, string, error) {
	if err := f.fails(); err != nil {
		return 0, "", err
	}
	return f.page.CreatePending(ctx, to, commit, body, comments)
}

func (f *faulty) Submit(ctx context.Context, to pull.Ref, id int64, body string) (string, error) {
	if err := f.fails(); err != nil {
		return "", err
	}
	return f.page.Submit(ctx, to, id, body)
}

func (f *faulty) DeletePending(ctx context.Context, to pull.Ref, id int64) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.page.DeletePending(ctx, to, id)
}

// request is one of a job that competes with others.
func (f *faulty) request() post.Request {
	q, record := request(), yes()
	record.Thread = q.Thread
	q.Race = &handoff.Race{Run: me, Record: record,
		Claims: func(context.Context) ([]handoff.Claim, error) {
			if err := f.fails(); err != nil {
				return nil, err
			}
			return f.claims, nil
		},
		Claim: func(_ context.Context, r decision.Record) error {
			if err := f.fails(); err != nil {
				return err
			}
			f.claims = []handoff.Claim{claim(1, me, true, r)}
			return nil
		}}
	return q
}

// TestP5_NoRequestThatFailsIsTakenForSuccess has each request of a job fail in turn, and then the job run again. Before
// it, a job may have left its pending review, or one of another draft.
func TestP5_NoRequestThatFailsIsTakenForSuccess(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(t *testing.T, p *page){
		"nothing left": func(*testing.T, *page) {},
		"its review": func(t *testing.T, p *page) {
			_, err := post.Review(t.Context(), p, dies{p}, request())
			require.ErrorIs(t, err, errKilled)
		},
		"another draft's review": func(t *testing.T, p *page) {
			another := request()
			another.Digest = another.Digest[1:] + "f"
			_, err := post.Review(t.Context(), p, dies{p}, another)
			require.ErrorIs(t, err, errKilled)
		},
		"comments that are refused": func(_ *testing.T, p *page) { p.refuse = write.ErrRefused },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for n, over := 0, false; !over; n++ {
					f := &faulty{page: &page{}, n: n}
					before(t, f.page)
					posted, err := post.Review(t.Context(), f, f, f.request())
					if over = f.n >= 0; over {
						require.NoError(t, err)
						require.Equal(t, f.reviews[0].URL, posted.URL)
						require.Equal(t, "COMMENTED", f.reviews[0].State)
					} else {
						require.ErrorIs(t, err, errFault, "request %d", n)
					}
					f.n = -1
					_, err = post.Review(t.Context(), f, f, f.request())
					require.NoError(t, err, "request %d", n)
					require.Len(t, f.reviews, 1, "request %d", n)
					require.Equal(t, "COMMENTED", f.reviews[0].State)
				}
			})
		})
	}
}
