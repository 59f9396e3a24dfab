package github

import (
	"context"
	"errors"
	"net/http"
	"time"

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
	At       time.Time // when it was submitted; zero while pending
}

// Reviews lists all reviews of a pull request, oldest first.
func (c *Client) Reviews(ctx context.Context, ref pull.Ref) ([]Review, error) {
	list, err := listAll(func(o *gh.ListOptions) ([]*gh.PullRequestReview, *gh.Response, error) {
		return c.api.PullRequests.ListReviews(ctx, ref.Owner, ref.Repo, ref.Number, o)
	})
	var reviews []Review
	for _, r := range list {
		reviews = append(reviews, Review{
			ID: r.GetID(), Body: r.GetBody(), User: r.GetUser().GetLogin(), UserType: r.GetUser().GetType(),
			CommitID: r.GetCommitID(), State: r.GetState(), URL: r.GetHTMLURL(), At: r.GetSubmittedAt().Time,
		})
	}
	return reviews, Wrap("listing the reviews of "+ref.String(), err)
}

// ActionsBot is the account of every workflow's own token.
const ActionsBot = "github-actions[bot]"

// Viewer is the account behind a token. An installation's token, such as a job's, belongs to
// a bot, whose login only App can read.
type Viewer struct {
	Login string
	ID    int64
	Bot   bool
}

// Viewer reads the account of the token. A valid token whose account the API refuses to name
// is an installation's.
func (c *Client) Viewer(ctx context.Context) (Viewer, error) {
	user, _, err := c.api.Users.Get(ctx, "")
	err = Wrap("reading whose token this is", err)
	status, answered := errors.AsType[*transport.StatusError](err)
	if answered && (status.Code == http.StatusForbidden && !status.Limited || status.Code == http.StatusNotFound) {
		return Viewer{Bot: true}, nil
	}
	return Viewer{Login: user.GetLogin(), ID: user.GetID()}, err
}

// App reads the login of an installation's token, by GraphQL.
func (c *Client) App(ctx context.Context) (login string, err error) {
	var app struct {
		Viewer struct {
			Login string `json:"login"`
		} `json:"viewer"`
	}
	err = c.GraphQL(ctx, c.client(http.MethodPost), `query { viewer { login } }`, nil, &app)
	return app.Viewer.Login, Wrap("reading whose token this is", err)
}
