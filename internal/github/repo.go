package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v62/github"
)

// Repository holds what a job needs to know about a repository.
type Repository struct {
	ID            int64
	DefaultBranch string
	Private       bool
	Visibility    string // public, private or internal
	Archived      bool   // it is read-only

	FullName     string // its current name: owner/repo
	Organization bool   // its owner is one
}

// Repository reads a repository.
func (c *Client) Repository(ctx context.Context, owner, repo string) (Repository, error) {
	r, _, err := c.api.Repositories.Get(ctx, owner, repo)
	if err == nil && (r.GetDefaultBranch() == "" || r.GetID() == 0) {
		err = errIncomplete
	}
	return repositoryOf(r), Wrap(fmt.Sprintf("reading repository %s/%s", owner, repo), err)
}

func repositoryOf(r *gh.Repository) Repository {
	return Repository{
		ID: r.GetID(), DefaultBranch: r.GetDefaultBranch(), Private: r.GetPrivate(), FullName: r.GetFullName(),
		Visibility: r.GetVisibility(), Archived: r.GetArchived(),
		Organization: r.GetOwner().GetType() == "Organization",
	}
}
