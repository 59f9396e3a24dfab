package ticketcontext

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/ticket"
)

// IssueAPI reads an issue of GitHub, and looks for a text in its comments.
type IssueAPI interface {
	Issue(ctx context.Context, owner, repo string, number int) (github.Remark, error)
	Said(ctx context.Context, ref pull.Ref, text string) (where string, found bool, err error)
}

// maxBody bounds an issue's text in bytes: GitHub keeps 65,536 characters of one.
const maxBody = 4 * 65_536

// Issues reads issues of GitHub as tickets, by their keys owner/repo#12, and comments on
// them.
type Issues struct {
	API   IssueAPI
	Write *write.Client
}

// GitHub is the source of issues that a client may read; of none with nil.
func GitHub(api *github.Client) Source {
	i := Issues{API: api}
	if api != nil {
		i.Write = write.New(api)
	}
	return Source{Name: "github", Title: "GitHub", Issues: true, Ticket: i.Ticket, Comments: i}
}

// Ticket reads an issue. Errors are *atlassian.Failure.
func (i Issues) Ticket(ctx context.Context, key string) (ticket.Ticket, error) {
	ref, err := issue(key)
	if err != nil {
		return ticket.Ticket{}, err
	}
	r, err := i.API.Issue(ctx, ref.Owner, ref.Repo, ref.Number)
	switch {
	case errors.Is(err, github.ErrNotFound): // deleted, moved away, or an answer about another one
		return ticket.Ticket{}, atlassian.Fail("%s is not visible to the GitHub token", key)
	case err != nil:
		return ticket.Ticket{}, failure(err, key)
	case r.Pull:
		return ticket.Ticket{}, atlassian.Fail("%s is a pull request", key)
	}
	t := ticket.Ticket{Key: key, Summary: strings.Join(strings.Fields(r.Title), " "),
		Description: strings.TrimSpace(r.Body[:min(len(r.Body), maxBody)])}
	if t.Description == "" && t.Summary == "" {
		return ticket.Ticket{}, atlassian.Fail("gave an answer that is no issue")
	}
	t.Criteria = ticket.CriteriaIn(t.Description)
	t.PageIDs = ticket.PageIDs(t.Description, ticket.InTicket)
	return t, nil
}

// Mentions reports whether a comment on an issue holds a text. Errors are
// *atlassian.Failure.
func (i Issues) Mentions(ctx context.Context, key, text string) (there bool, err error) {
	ref, err := issue(key)
	if err == nil {
		_, there, err = i.API.Said(ctx, ref, text)
	}
	return there, failure(err, key)
}

// Comment says text and an address under an issue. Errors are *atlassian.Failure.
func (i Issues) Comment(ctx context.Context, key, text, address string) error {
	ref, err := issue(key)
	if err == nil {
		_, err = i.Write.Comment(ctx, ref, text+" "+address)
	}
	return failure(err, key)
}

// failure is one that asking again does not help: the client of GitHub has done so.
func failure(err error, key string) error {
	if err == nil {
		return nil
	}
	failed := atlassian.Explain(err, key, "the GitHub token")
	failed.Temporary = false
	return failed
}

func issue(key string) (ref pull.Ref, err error) {
	name, digits, _ := strings.Cut(key, "#")
	if ref.Owner, ref.Repo, err = pull.ParseRepository(name); err == nil {
		ref.Number, err = strconv.Atoi(digits)
	}
	if err != nil {
		err = atlassian.Fail("has no issue %s", key)
	}
	return ref, err
}
