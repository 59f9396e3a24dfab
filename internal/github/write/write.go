// Package write posts reviews to GitHub, and pushes approved changes to new branches.
//
// It is the only package that changes anything there. It comments, makes branches and commits to them, and opens draft
// pull requests. It approves no review, merges nothing, puts no label on anything and never force-pushes. For a
// person at the command line it also starts workflows, answers for environments, and creates the environments and the
// label that a repository lacks. Start at Client.CreatePending, or for pushes at Client.Branch.
package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// event is constant: a bot's approval can count toward branch protection.
const event = "COMMENT"

var (
	// ErrRefused reports that GitHub rejected the whole review (422), with its reason: most often a comment off the
	// diff.
	ErrRefused = errors.New("the review was refused")
	// ErrPending reports that the account's pending review keeps GitHub from taking a second one (422).
	ErrPending = errors.New("this token's account has a pending review on the pull request already")
	// ErrGone reports that a pending review was submitted or deleted meanwhile.
	ErrGone = errors.New("the review is not pending any more")
	// ErrNoPermission reports that the token may read but not post (403).
	ErrNoPermission = problem.Sentinel("the token may not post reviews (pull-requests: write)",
		"the token needs pull-requests: write; then decide the same again, the draft still waits")
	// ErrUnknown reports that the review may or may not have been posted: the answer was lost. List the reviews
	// before posting again.
	ErrUnknown = problem.Sentinel("whether the review was posted is not known",
		"run it again: it looks for the review before it writes")
)

// Client posts with the token of the client that it was made from.
type Client struct {
	api  *gh.Client
	read *github.Client

	// Sleep waits for as long as GitHub asks; transport.Sleep unless set before the first review.
	Sleep func(ctx context.Context, d time.Duration) error
}

// New makes a client.
func New(c *github.Client) *Client {
	return &Client{api: c.ForWriting(), read: c, Sleep: transport.Sleep}
}

const (
	maxRepeats = 3
	// maxWait bounds one wait, and is the wait if GitHub names none.
	maxWait = time.Minute
)

// Comment is an inline comment on the lines StartLine to Line of one side of the diff; StartLine is 0 or Line for a
// single one.
type Comment struct {
	Path, Side      string // Side is RIGHT or LEFT
	StartLine, Line int
	Body            string
}

// CreatePending creates a review at a commit that only the token's account can see, all of it or nothing. GitHub
// keeps one per account and pull request: as long as it exists, a second one is ErrPending.
func (c *Client) CreatePending(ctx context.Context, ref pull.Ref, commit, body string,
	comments []Comment) (id int64, url string, err error) {
	review, err := c.send(ctx, ref, func(ctx context.Context) (*gh.PullRequestReview, error) {
		review, _, err := c.api.PullRequests.CreateReview(ctx, ref.Owner, ref.Repo, ref.Number,
			&gh.PullRequestReviewRequest{
				CommitID: gh.String(commit), Body: gh.String(body), Comments: draftComments(comments),
			})
		return review, err
	})
	return review.GetID(), review.GetHTMLURL(), err
}

// Submit posts a pending review as a COMMENT, with this body. It returns ErrGone if the review was submitted or
// deleted.
func (c *Client) Submit(ctx context.Context, ref pull.Ref, id int64, body string) (url string, err error) {
	review, err := c.send(ctx, ref, func(ctx context.Context) (*gh.PullRequestReview, error) {
		review, _, err := c.api.PullRequests.SubmitReview(ctx, ref.Owner, ref.Repo, ref.Number, id,
			&gh.PullRequestReviewRequest{
				Body: gh.String(body), Event: gh.String(event),
			})
		return review, err
	})
	return review.GetHTMLURL(), wrapGone(err)
}

// DeletePending deletes a pending review. It returns ErrGone, and deletes nothing, if the review was submitted.
func (c *Client) DeletePending(ctx context.Context, ref pull.Ref, id int64) error {
	_, err := c.send(ctx, ref, func(ctx context.Context) (*gh.PullRequestReview, error) {
		review, _, err := c.api.PullRequests.DeletePendingReview(ctx, ref.Owner, ref.Repo, ref.Number, id)
		return review, err
	})
	return wrapGone(err)
}

// send makes a request, and up to three more after rate limits: it waits as GitHub asks, a minute at most. After any
// other answer, or none, it never repeats the request. It waits for the answer even if ctx is cancelled meanwhile, so
// that the outcome is known. It returns ErrRefused, ErrPending, ErrNoPermission, ErrUnknown, an error of package
// github, or a rate limit's *transport.StatusError.
func (c *Client) send(ctx context.Context, ref pull.Ref,
	call func(context.Context) (*gh.PullRequestReview, error)) (*gh.PullRequestReview, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	review, err := sendOnce(ctx, c, func(ctx context.Context) (*gh.PullRequestReview, error) {
		review, err := call(ctx)
		if err == nil && review.GetID() == 0 {
			err = errors.New("the answer names no review")
		}
		return review, err
	})
	if err == nil {
		return review, nil
	}
	err = reviewError(ref, err)
	if ended := ctx.Err(); ended != nil {
		err = fmt.Errorf("%w (%w)", err, ended)
	}
	return nil, err
}

// wrapGone adds ErrGone to errors that mean the review is no longer pending.
func wrapGone(err error) error {
	if errors.Is(err, ErrRefused) || errors.Is(err, github.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}

// limitWait returns how long to wait after a rate limit. limited is false for other errors, and if the wait is longer
// than maxWait.
func limitWait(err error) (wait time.Duration, limited bool) {
	status, ok := errors.AsType[*transport.StatusError](err)
	if !ok || !status.Limited {
		return 0, false
	}
	wait = cmp.Or(status.RetryAfter, maxWait)
	return wait, wait <= maxWait
}

func reviewError(ref pull.Ref, err error) error {
	wrapped := github.Wrap("posting the review of "+ref.String(), err)
	if kind := classify(err); kind != nil {
		return fmt.Errorf("%w: %w", kind, wrapped)
	}
	return wrapped
}

func draftComments(comments []Comment) []*gh.DraftReviewComment {
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

// classify returns the sentinel for an error, or nil. Only an answer below 500 proves that nothing was posted.
func classify(err error) error {
	var status *transport.StatusError
	switch {
	case transport.Refused(err):
		return nil
	case !errors.As(err, &status), status.Code >= http.StatusInternalServerError:
		return ErrUnknown
	case status.Code == http.StatusUnprocessableEntity &&
		strings.Contains(status.Message, "one pending review per pull request"):
		return ErrPending
	case status.Code == http.StatusUnprocessableEntity:
		return ErrRefused
	case status.Code == http.StatusForbidden && !status.Limited:
		return ErrNoPermission
	}
	return nil
}

// ErrMayNotResolve reports that the token may post but not resolve threads. GitHub requires
// contents: write for this in addition to pull-requests: write, which a job's token should
// not have; an app's or a person's can.
var ErrMayNotResolve = errors.New("the token may not resolve threads, for which GitHub asks for contents: write " +
	"in addition to pull-requests: write")

const resolveMutation = `mutation($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { thread { id isResolved } }
}`

// ResolveThread marks a thread as resolved, which sends no mail. The request is sent once; a
// resolved thread stays so. It returns ErrMayNotResolve or an error of package github.
func (c *Client) ResolveThread(ctx context.Context, id string) error {
	var data struct {
		ResolveReviewThread *struct {
			Thread struct {
				IsResolved bool `json:"isResolved"`
			} `json:"thread"`
		} `json:"resolveReviewThread"`
	}
	err := c.read.GraphQL(ctx, c.api, resolveMutation, map[string]any{"id": id}, &data)
	if err == nil && (data.ResolveReviewThread == nil || !data.ResolveReviewThread.Thread.IsResolved) {
		err = errors.New("the answer does not say that it is resolved")
	}
	err = github.Wrap("resolving a thread", err)
	if errors.Is(err, github.ErrNoAccess) {
		return fmt.Errorf("%w: %w", ErrMayNotResolve, err)
	}
	return err
}
