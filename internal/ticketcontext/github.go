package ticketcontext

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/ticket"
)

// Asked is what a pull request says about its purpose. All of it but MayWrite is untrusted.
type Asked struct {
	pull.Pull
	Commits  []string     // messages, newest last
	Closes   []ticket.Key // issues that GitHub says it closes
	MayWrite bool         // its author may write to the repository
	Unread   []string     // what could not be read, as lines for Context.Missing
}

// API is the part of GitHub's API that Read uses.
type API interface {
	Permission(ctx context.Context, owner, repo, login string) (string, error)
	Commits(ctx context.Context, ref pull.Ref, page int) ([]github.Remark, bool, error)
	ClosingIssues(ctx context.Context, ref pull.Ref) ([]string, error)
}

// newest bounds how many commits' messages are read; GitHub lists 250 at most.
const newest = 20

// Read adds to a pull request what only the API knows: whether its author may write, its commits, and the issues that
// it closes. What cannot be read is named and stops nothing; an unreadable permission counts as none.
func Read(ctx context.Context, api API, p pull.Pull, o Options) Asked {
	a := Asked{Pull: p}
	if len(o.Sources) == 0 || p.Fork() {
		return a
	}
	level, err := api.Permission(ctx, p.Owner, p.Repo, p.Author)
	if err != nil {
		a.addUnread("Without ticket: the permission of the author")
	}
	if a.MayWrite = github.MayWrite(level); !a.MayWrite {
		return a
	}
	if o.issues() {
		closes, err := api.ClosingIssues(ctx, a.Ref)
		if err != nil && len(a.issues()) == 0 {
			a.addUnread("the issues that GitHub links to the pull request")
		}
		for _, key := range closes {
			a.Closes = append(a.Closes, ticket.Key{Key: key, From: ticket.Body})
		}
	}
	for page, more := 1, len(a.keys(o)) < maxTickets; more; page++ {
		var list []github.Remark
		if list, more, err = api.Commits(ctx, a.Ref, page); err != nil {
			a.addUnread("the commits of the pull request")
			break
		}
		for _, c := range list {
			a.Commits = append(a.Commits, c.Body)
		}
		a.Commits = a.Commits[max(0, len(a.Commits)-newest):]
	}
	return a
}

func (a *Asked) addUnread(what string) { a.Unread = append(a.Unread, what+" could not be read") }

// barredReason says why nothing that the pull request names is followed; "" if it is.
func (a Asked) barredReason() string {
	switch {
	case a.Fork():
		return "what a fork names is not followed"
	case !a.MayWrite && len(a.Unread) > 0:
		return "what the author names is not followed without it"
	case !a.MayWrite:
		return "what an author names who may not write to the repository is not followed"
	}
	return ""
}

func (o Options) issues() bool {
	return slices.ContainsFunc(o.Sources, func(s Source) bool { return s.Issues })
}

// keys returns the ticket keys of the settings' projects, then GitHub's issues if these are a source.
func (a Asked) keys(o Options) (all []ticket.Key) {
	all = slices.Concat(ticket.Keys(a.Title, ticket.Title, o.Projects),
		ticket.Keys(a.HeadRef, ticket.Branch, o.Projects), ticket.Keys(a.Body, ticket.Body, o.Projects))
	for _, label := range a.Labels {
		all = append(all, ticket.InLabel(label, o.Labels, o.Projects)...)
	}
	for _, message := range slices.Backward(a.Commits) {
		all = append(all, ticket.Keys(message, ticket.Commit, o.Projects)...)
	}
	if o.issues() {
		all = append(all, a.issues()...)
	}
	return ticket.Merge(all)
}

// issues returns the issues that are closed or, if there are none, those that are mentioned.
func (a Asked) issues() []ticket.Key {
	repo := a.Owner + "/" + a.Repo
	all := slices.Concat(a.Closes, ticket.Issues(a.Body, a.Host, repo, ticket.Body))
	for _, message := range a.Commits {
		all = append(all, ticket.Issues(message, a.Host, repo, ticket.Commit)...)
	}
	if len(all) == 0 {
		all = append(ticket.Mentions(a.Title, a.Host, repo, ticket.Title),
			ticket.Mentions(a.Body, a.Host, repo, ticket.Body)...)
	}
	own := fmt.Sprintf("%s#%d", repo, a.Number)
	return slices.DeleteFunc(all, func(k ticket.Key) bool { return k.Key == own })
}

// IssueAPI reads an issue of GitHub, and searches its comments for a text.
type IssueAPI interface {
	Issue(ctx context.Context, owner, repo string, number int) (github.Remark, error)
	FindComment(ctx context.Context, ref pull.Ref, text string) (where string, found bool, err error)
}

// maxBody bounds an issue's text in bytes: GitHub keeps 65,536 characters of one.
const maxBody = 4 * 65_536

// Issues reads GitHub's issues as tickets, by keys such as owner/repo#12, and comments on them.
type Issues struct {
	API   IssueAPI
	Write *write.Client
}

// GitHub returns the source of the issues that a client may read; api may be nil, which reads none.
func GitHub(api *github.Client) Source {
	i := Issues{API: api}
	if api != nil {
		i.Write = write.New(api)
	}
	return Source{Name: "github", Title: "GitHub", Issues: true, Ticket: i.Ticket, Comments: i}
}

// Ticket reads an issue. Errors are *atlassian.Failure.
func (i Issues) Ticket(ctx context.Context, key string) (ticket.Ticket, error) {
	ref, err := parseIssue(key)
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
		return ticket.Ticket{}, atlassian.Fail("gave an answer that is not an issue")
	}
	t.Criteria = ticket.CriteriaIn(t.Description)
	t.PageIDs = ticket.PageIDs(t.Description, ticket.InTicket)
	return t, nil
}

// Mentions reports whether a comment on an issue contains a text. Errors are *atlassian.Failure.
func (i Issues) Mentions(ctx context.Context, key, text string) (there bool, err error) {
	ref, err := parseIssue(key)
	if err == nil {
		_, there, err = i.API.FindComment(ctx, ref, text)
	}
	return there, failure(err, key)
}

// Comment posts text and an address under an issue. Errors are *atlassian.Failure.
func (i Issues) Comment(ctx context.Context, key, text, address string) error {
	ref, err := parseIssue(key)
	if err == nil {
		_, err = i.Write.Comment(ctx, ref, text+" "+address)
	}
	return failure(err, key)
}

// failure returns a failure that is not retried: the client of GitHub has done so.
func failure(err error, key string) error {
	if err == nil {
		return nil
	}
	failed := atlassian.Explain(err, key, "the GitHub token")
	failed.Temporary = false
	return failed
}

func parseIssue(key string) (ref pull.Ref, err error) {
	name, digits, _ := strings.Cut(key, "#")
	if ref.Owner, ref.Repo, err = pull.ParseRepository(name); err == nil {
		ref.Number, err = strconv.Atoi(digits)
	}
	if err != nil {
		err = atlassian.Fail("has no issue %s", key)
	}
	return ref, err
}
