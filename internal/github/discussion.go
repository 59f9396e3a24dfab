package github

import (
	"context"
	"fmt"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/pull"
)

// RemarkPage is the number of remarks on a page of a discussion.
const RemarkPage = 20

// Remark is an entry of a discussion: a comment, a review, a commit's message, an issue. All
// its texts are untrusted.
type Remark struct {
	ID      int64
	ReplyTo int64  // the remark that it answers; 0 if it opens a thread
	User    string // login; for a commit without an account its author's name; empty for a deleted account
	State   string // of a review: COMMENTED, APPROVED, CHANGES_REQUESTED or DISMISSED; of an issue open or closed
	SHA     string // of a commit
	Path    string // of a comment on the diff, as Line
	Line    int    // current last line; 0 if outdated or on the whole file
	Title   string // of an issue
	Pull    bool   // of an issue: it is a pull request
	Body    string
	At      time.Time // for a commit, by its author's clock
}

// Commits lists a page of a pull request's commits, oldest first. Pages count from 1; more
// reports that others follow. The API ends at 250 commits.
func (c *Client) Commits(ctx context.Context, ref pull.Ref, page int) (remarks []Remark, more bool, err error) {
	list, resp, err := c.api.PullRequests.ListCommits(ctx, segment(ref.Owner), segment(ref.Repo), ref.Number,
		pageOptions(page))
	for _, k := range list {
		r := Remark{
			User: k.GetAuthor().GetLogin(), SHA: k.GetSHA(),
			Body: k.GetCommit().GetMessage(), At: k.GetCommit().GetAuthor().GetDate().Time,
		}
		if r.User == "" {
			r.User = k.GetCommit().GetAuthor().GetName()
		}
		remarks = append(remarks, r)
	}
	return remarks, hasNext(resp, page), Wrap("listing the commits of "+ref.String(), err)
}

// Comments lists a page of a pull request's conversation, as Commits does.
func (c *Client) Comments(ctx context.Context, ref pull.Ref, page int) (remarks []Remark, more bool, err error) {
	list, resp, err := c.api.Issues.ListComments(ctx, segment(ref.Owner), segment(ref.Repo), ref.Number,
		&gh.IssueListCommentsOptions{ListOptions: *pageOptions(page)})
	for _, k := range list {
		remarks = append(remarks, Remark{
			ID: k.GetID(), User: k.GetUser().GetLogin(), Body: k.GetBody(), At: k.GetCreatedAt().Time,
		})
	}
	return remarks, hasNext(resp, page), Wrap("listing the conversation of "+ref.String(), err)
}

// ReviewPage lists a page of a pull request's reviews, as Commits does.
func (c *Client) ReviewPage(ctx context.Context, ref pull.Ref, page int) (remarks []Remark, more bool, err error) {
	list, resp, err := c.api.PullRequests.ListReviews(ctx, segment(ref.Owner), segment(ref.Repo), ref.Number,
		pageOptions(page))
	for _, k := range list {
		remarks = append(remarks, Remark{
			ID: k.GetID(), User: k.GetUser().GetLogin(), State: k.GetState(), Body: k.GetBody(),
			At: k.GetSubmittedAt().Time,
		})
	}
	return remarks, hasNext(resp, page), Wrap("listing the reviews of "+ref.String(), err)
}

// ReviewCommentPage lists a page of the comments on a pull request's diff, as Commits does.
func (c *Client) ReviewCommentPage(ctx context.Context, ref pull.Ref,
	page int) (remarks []Remark, more bool, err error) {
	list, resp, err := c.api.PullRequests.ListComments(ctx, segment(ref.Owner), segment(ref.Repo), ref.Number,
		&gh.PullRequestListCommentsOptions{Sort: "created", Direction: "asc", ListOptions: *pageOptions(page)})
	for _, k := range list {
		r := Remark{
			ID: k.GetID(), ReplyTo: k.GetInReplyTo(), User: k.GetUser().GetLogin(), Path: k.GetPath(),
			Line: k.GetLine(), Body: k.GetBody(), At: k.GetCreatedAt().Time,
		}
		if k.GetSubjectType() == "file" {
			r.Line = 0
		}
		remarks = append(remarks, r)
	}
	return remarks, hasNext(resp, page), Wrap("listing the comments on "+ref.String(), err)
}

// Issue reads an issue. It returns ErrNotFound also if the issue was deleted or moved to
// another repository, where the token may see more than in this one.
func (c *Client) Issue(ctx context.Context, owner, repo string, number int) (Remark, error) {
	doing := fmt.Sprintf("reading issue %d of %s/%s", number, owner, repo)
	i, _, err := c.api.Issues.Get(ctx, segment(owner), segment(repo), number)
	if err != nil {
		return Remark{}, Wrap(doing, err)
	}
	here := strings.ToLower(fmt.Sprintf("/repos/%s/%s/issues/%d", owner, repo, number))
	if i.GetNumber() != number || i.URL != nil && !strings.HasSuffix(strings.ToLower(i.GetURL()), here) {
		return Remark{}, Wrap(doing, ErrNotFound)
	}
	return Remark{
		ID: i.GetID(), User: i.GetUser().GetLogin(), State: i.GetState(), Title: i.GetTitle(),
		Pull: i.IsPullRequest(), Body: i.GetBody(), At: i.GetCreatedAt().Time,
	}, nil
}

func pageOptions(page int) *gh.ListOptions {
	return &gh.ListOptions{Page: max(page, 1), PerPage: RemarkPage}
}

func hasNext(resp *gh.Response, page int) bool { return resp != nil && resp.NextPage > max(page, 1) }

// LabelSetter returns the login of the account that last put a label on the pull request,
// empty if it was deleted. It returns ErrNotFound if the label was never set.
func (c *Client) LabelSetter(ctx context.Context, ref pull.Ref, label string) (login string, err error) {
	var at time.Time
	events, err := listAll(func(o *gh.ListOptions) ([]*gh.IssueEvent, *gh.Response, error) {
		return c.api.Issues.ListIssueEvents(ctx, ref.Owner, ref.Repo, ref.Number, o)
	})
	for _, e := range events {
		set := e.GetCreatedAt().Time
		if e.GetEvent() == "labeled" && strings.EqualFold(e.GetLabel().GetName(), label) && !set.Before(at) {
			login, at = e.GetActor().GetLogin(), set
		}
	}
	if err == nil && at.IsZero() {
		err = ErrNotFound
	}
	return login, Wrap(fmt.Sprintf("reading who labelled %s %q", ref, label), err)
}
