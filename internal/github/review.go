package github

import (
	"context"
	"errors"
	"fmt"
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

// ReviewComment is a comment on the diff of a pull request. Path, Hunk and Body
// are untrusted text.
type ReviewComment struct {
	ID          int64
	ReplyTo     int64 // 0 for a comment that opens a thread
	Review      int64 // the review that it was posted with
	Path        string
	Side        string // RIGHT or LEFT, of the last line
	StartSide   string // of the first line; empty for a single one
	WholeFile   bool   // not on a line, whatever the line fields say
	Line        int    // current last line; 0 if outdated: the line changed or left the diff
	Start       int    // current first line; 0 for a single line, or if Line is 0
	Hunk        string // part of the diff that it was written on, up to its last line
	Body        string
	User        string // login, empty for a deleted account
	UserType    string // User or Bot
	Association string // OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, …
	URL         string
	CreatedAt   time.Time

	OriginalCommitID  string // the head when it was written
	OriginalLine      int    // the last line at that commit; 0 for comments older than line numbers
	OriginalStartLine int    // the first line at that commit; 0 for a single one
}

// Outdated reports whether the commented line is no longer in the diff. On a merged pull
// request this mostly means that the author changed it.
func (c ReviewComment) Outdated() bool { return c.Line == 0 }

// ReviewComments lists all comments on a pull request's diff, oldest first.
func (c *Client) ReviewComments(ctx context.Context, ref pull.Ref) ([]ReviewComment, error) {
	list, err := listAll(func(o *gh.ListOptions) ([]*gh.PullRequestComment, *gh.Response, error) {
		return c.api.PullRequests.ListComments(ctx, ref.Owner, ref.Repo, ref.Number, &gh.PullRequestListCommentsOptions{
			Sort: "created", Direction: "asc", ListOptions: *o,
		})
	})
	return convertComments(list), Wrap("listing the comments on "+ref.String(), err)
}

// CommentsOf lists the comments of one review; those of a pending review only for its author.
// It returns ErrNotFound if none is visible.
func (c *Client) CommentsOf(ctx context.Context, ref pull.Ref, review int64) ([]ReviewComment, error) {
	list, err := listAll(func(o *gh.ListOptions) ([]*gh.PullRequestComment, *gh.Response, error) {
		return c.api.PullRequests.ListReviewComments(ctx, ref.Owner, ref.Repo, ref.Number, review, o)
	})
	return convertComments(list), Wrap(fmt.Sprintf("listing the comments of review %d on %s", review, ref), err)
}

func convertComments(list []*gh.PullRequestComment) (comments []ReviewComment) {
	for _, k := range list {
		comments = append(comments, ReviewComment{
			ID: k.GetID(), ReplyTo: k.GetInReplyTo(), Review: k.GetPullRequestReviewID(), Path: k.GetPath(),
			Side: k.GetSide(), StartSide: k.GetStartSide(),
			WholeFile: k.GetSubjectType() == "file", Line: k.GetLine(), Start: k.GetStartLine(), Hunk: k.GetDiffHunk(),
			Body: k.GetBody(),
			User: k.GetUser().GetLogin(), UserType: k.GetUser().GetType(), Association: k.GetAuthorAssociation(),
			URL: k.GetHTMLURL(), CreatedAt: k.GetCreatedAt().Time,
			OriginalCommitID: k.GetOriginalCommitID(), OriginalLine: k.GetOriginalLine(),
			OriginalStartLine: k.GetOriginalStartLine(),
		})
	}
	return comments
}
