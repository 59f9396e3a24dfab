package github

import (
	"context"
	"errors"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// Review is a posted review. Body is untrusted text.
type Review struct {
	ID       int64
	Body     string
	User     string // login, empty for a deleted account
	UserType string // User or Bot
	CommitID string
	State    string // COMMENTED, APPROVED, CHANGES_REQUESTED, DISMISSED or PENDING
	URL      string
}

// Reviews lists all reviews of a pull request, oldest first.
func (c *Client) Reviews(ctx context.Context, ref pull.Ref) ([]Review, error) {
	list, err := all(func(o *gh.ListOptions) ([]*gh.PullRequestReview, *gh.Response, error) {
		return c.api.PullRequests.ListReviews(ctx, ref.Owner, ref.Repo, ref.Number, o)
	})
	var reviews []Review
	for _, r := range list {
		reviews = append(reviews, Review{
			ID: r.GetID(), Body: r.GetBody(), User: r.GetUser().GetLogin(), UserType: r.GetUser().GetType(),
			CommitID: r.GetCommitID(), State: r.GetState(), URL: r.GetHTMLURL(),
		})
	}
	return reviews, Wrap("listing the reviews of "+ref.String(), err)
}

// Viewer is the account behind a token. An installation's token, such as a
// job's, has none that the API tells; its reviews are by an account of type Bot.
type Viewer struct{ Login string }

// Wrote reports whether the review is by the viewer, as far as can be known.
func (v Viewer) Wrote(r Review) bool {
	if v.Login == "" {
		return r.UserType == "Bot"
	}
	return strings.EqualFold(r.User, v.Login)
}

// Viewer reads whose token this is. A valid token that the API refuses to name
// is an installation's.
func (c *Client) Viewer(ctx context.Context) (Viewer, error) {
	user, _, err := c.api.Users.Get(ctx, "")
	err = Wrap("reading whose token this is", err)
	status, answered := errors.AsType[*transport.StatusError](err)
	if answered && (status.Code == http.StatusForbidden && !status.Limited || status.Code == http.StatusNotFound) {
		return Viewer{}, nil
	}
	return Viewer{Login: user.GetLogin()}, err
}
