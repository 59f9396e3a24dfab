package ticketcontext

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ticket"
)

// IssueAPI reads an issue of GitHub.
type IssueAPI interface {
	Issue(ctx context.Context, owner, repo string, number int) (github.Remark, error)
}

// maxBody bounds an issue's text in bytes: GitHub keeps 65,536 characters of one.
const maxBody = 4 * 65_536

// Issues reads issues of GitHub as tickets.
type Issues struct{ API IssueAPI }

// Ticket reads the issue owner/repo#12. Errors are *atlassian.Failure.
func (i Issues) Ticket(ctx context.Context, key string) (ticket.Ticket, error) {
	owner, rest, _ := strings.Cut(key, "/")
	repo, digits, _ := strings.Cut(rest, "#")
	number, err := strconv.Atoi(digits)
	if err != nil {
		return ticket.Ticket{}, atlassian.Fail("has no issue %s", key)
	}
	r, err := i.API.Issue(ctx, owner, repo, number)
	if errors.Is(err, github.ErrNotFound) { // deleted, moved away, or an answer about another one
		return ticket.Ticket{}, atlassian.Fail("%s is not visible to the GitHub token", key)
	}
	if err != nil {
		failed := atlassian.Explain(err, key, "the GitHub token")
		failed.Temporary = false // the client of GitHub has asked again already
		return ticket.Ticket{}, failed
	}
	if r.Pull {
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
