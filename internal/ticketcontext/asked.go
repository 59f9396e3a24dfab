package ticketcontext

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/ticket"
)

// Asked is what a pull request says of what it is for. All of it but MayWrite is
// untrusted.
type Asked struct {
	pull.Pull
	Commits  []string     // messages, newest last
	Closes   []ticket.Key // issues that GitHub says it closes
	MayWrite bool         // its author, to the repository
	Unread   []string     // what of it could not be read, as lines for Context.Missing
}

// API is what is read of GitHub.
type API interface {
	Permission(ctx context.Context, owner, repo, login string) (string, error)
	Commits(ctx context.Context, ref pull.Ref, page int) ([]github.Remark, bool, error)
	ClosingIssues(ctx context.Context, ref pull.Ref) ([]string, error)
}

// newest is how many commits' messages are looked at; GitHub lists 250 at most.
const newest = 20

// Read completes a pull request by what only the API tells: whether its author may
// write, its commits, and the issues that it closes. What cannot be read is named
// and stops nothing; the permission that cannot be read is none.
func Read(ctx context.Context, api API, p pull.Pull, o Options) Asked {
	a := Asked{Pull: p}
	if len(o.Sources) == 0 || p.Fork() {
		return a
	}
	level, err := api.Permission(ctx, p.Owner, p.Repo, p.Author)
	if err != nil {
		a.unread("Without ticket: the permission of the author")
	}
	if a.MayWrite = level == "admin" || level == "write"; !a.MayWrite {
		return a
	}
	if o.issues() {
		closes, err := api.ClosingIssues(ctx, a.Ref)
		if err != nil && len(a.issues()) == 0 {
			a.unread("the issues that GitHub links to the pull request")
		}
		for _, key := range closes {
			a.Closes = append(a.Closes, ticket.Key{Key: key, From: ticket.Body})
		}
	}
	for page, more := 1, len(a.keys(o)) < maxTickets; more; page++ {
		var list []github.Remark
		if list, more, err = api.Commits(ctx, a.Ref, page); err != nil {
			a.unread("the commits of the pull request")
			break
		}
		for _, c := range list {
			a.Commits = append(a.Commits, c.Body)
		}
		a.Commits = a.Commits[max(0, len(a.Commits)-newest):]
	}
	return a
}

func (a *Asked) unread(what string) { a.Unread = append(a.Unread, what+" could not be read") }

// barred says why nothing that the pull request names is followed; "" where it is.
func (a Asked) barred() string {
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

// keys are the tickets' keys of the settings' projects, then the issues of GitHub
// where these are a source.
func (a Asked) keys(o Options) (all []ticket.Key) {
	if len(o.Projects) > 0 {
		all = slices.Concat(ticket.Keys(a.Title, ticket.Title, o.Projects),
			ticket.Keys(a.HeadRef, ticket.Branch, o.Projects), ticket.Keys(a.Body, ticket.Body, o.Projects))
		for _, label := range a.Labels {
			all = append(all, ticket.InLabel(label, o.Labels, o.Projects)...)
		}
		for _, message := range slices.Backward(a.Commits) {
			all = append(all, ticket.Keys(message, ticket.Commit, o.Projects)...)
		}
	}
	if o.issues() {
		all = append(all, a.issues()...)
	}
	return ticket.Merge(all)
}

// issues are those that are closed; where there are none, those that are named.
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
