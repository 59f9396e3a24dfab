// Package write posts reviews to GitHub.
//
// It is the only room that changes a pull request, and it can do nothing but
// comment: no approval, no merge, no label. Start at Client.CreateReview.
package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// event is constant: a bot's approval can count toward branch protection.
const event = "COMMENT"

var (
	// ErrRefused is a review that GitHub takes no part of (422), with GitHub's
	// reason behind it: a comment off the diff, most often.
	ErrRefused = errors.New("the review was refused")
	// ErrNoPermission is a token that may read but not post (403).
	ErrNoPermission = errors.New("the token may not post reviews (pull-requests: write)")
	// ErrUnknown is a review that may or may not have been posted: the answer
	// was lost. List the reviews before posting again.
	ErrUnknown = errors.New("whether the review was posted is not known")
)

// Client posts with the token of the client it was made from.
type Client struct {
	api *gh.Client

	// Sleep waits where GitHub asks for it; transport.Sleep unless set before
	// the first review.
	Sleep func(ctx context.Context, d time.Duration) error
}

// New makes a client.
func New(c *github.Client) *Client { return &Client{api: c.ForWriting(), Sleep: transport.Sleep} }

const (
	maxRepeats = 3
	// maxWait bounds one wait. Where GitHub names no time it asks for a minute.
	maxWait = time.Minute
)

// Comment is an inline comment on the lines StartLine to Line of one side of
// the diff; StartLine is 0 or Line for a single one.
type Comment struct {
	Path, Side      string // Side is RIGHT or LEFT
	StartLine, Line int
	Body            string
}

// CreateReview posts one review at a commit, all of it or nothing. Where
// a rate limit turned it away, and so nothing was posted, it waits as GitHub asks
// and sends it up to three times more; a wait above a minute is not made. After
// any other answer, or none, it is never sent again. Errors are ErrRefused, ErrNoPermission,
// ErrUnknown, those of package github, or a rate limit's
// *transport.StatusError.
func (c *Client) CreateReview(ctx context.Context, ref pull.Ref, commit, body string, comments []Comment) (id int64, url string, err error) {
	request := &gh.PullRequestReviewRequest{
		CommitID: gh.String(commit), Body: gh.String(body), Event: gh.String(event), Comments: drafts(comments),
	}
	review, err := c.create(ctx, ref, request)
	for repeat := 0; repeat < maxRepeats; repeat++ {
		wait, limited := limit(err)
		if !limited {
			break
		}
		if ended := c.Sleep(ctx, wait); ended != nil {
			return 0, "", fmt.Errorf("%w; the wait for it ended: %w", failure(ref, err), ended)
		}
		review, err = c.create(ctx, ref, request)
	}
	if err != nil {
		return 0, "", failure(ref, err)
	}
	return review.GetID(), review.GetHTMLURL(), nil
}

func (c *Client) create(ctx context.Context, ref pull.Ref, request *gh.PullRequestReviewRequest) (*gh.PullRequestReview, error) {
	review, _, err := c.api.PullRequests.CreateReview(ctx, ref.Owner, ref.Repo, ref.Number, request)
	if err == nil && review.GetID() == 0 {
		err = errors.New("the answer names no review")
	}
	return review, err
}

// limit is how long to wait before a review that a rate limit turned away is
// sent again, and whether one did that and asks for no longer than maxWait.
func limit(err error) (wait time.Duration, limited bool) {
	status, ok := errors.AsType[*transport.StatusError](err)
	if !ok || !status.Limited {
		return 0, false
	}
	wait = cmp.Or(status.RetryAfter, maxWait)
	return wait, wait <= maxWait
}

func failure(ref pull.Ref, err error) error {
	wrapped := github.Wrap("posting the review of "+ref.String(), err)
	if kind := classify(err); kind != nil {
		return fmt.Errorf("%w: %w", kind, wrapped)
	}
	return wrapped
}

func drafts(comments []Comment) []*gh.DraftReviewComment {
	var list []*gh.DraftReviewComment
	for _, c := range comments {
		draft := &gh.DraftReviewComment{
			Path: gh.String(c.Path), Body: gh.String(c.Body), Side: gh.String(c.Side), Line: gh.Int(c.Line),
		}
		if c.StartLine != 0 && c.StartLine != c.Line {
			draft.StartLine, draft.StartSide = gh.Int(c.StartLine), gh.String(c.Side)
		}
		list = append(list, draft)
	}
	return list
}

// classify finds our sentinel for an error, or nil. Only an answer below 500
// proves that nothing was posted.
func classify(err error) error {
	var status *transport.StatusError
	switch {
	case errors.Is(err, transport.ErrInsecure), errors.Is(err, transport.ErrForbidden):
		return nil
	case !errors.As(err, &status), status.Code >= http.StatusInternalServerError:
		return ErrUnknown
	case status.Code == http.StatusUnprocessableEntity:
		return ErrRefused
	case status.Code == http.StatusForbidden && !status.Limited:
		return ErrNoPermission
	}
	return nil
}
