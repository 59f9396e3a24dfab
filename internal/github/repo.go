package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

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

// ownerPages bounds the pages of an owner's repositories, 100 on each.
const ownerPages = 10

// RepositoriesOf lists the repositories of an organization or a person that the token sees,
// the latest push first and at most 1000; cut reports that there may be more. Only a person's
// own token sees their private ones. It returns ErrNotFound if the owner does not exist.
func (c *Client) RepositoriesOf(ctx context.Context, owner string) (list []Repository, cut bool, err error) {
	list, cut, err = c.repositories(ctx, "orgs/"+url.PathEscape(owner)+"/repos", url.Values{})
	if errors.Is(err, ErrNotFound) {
		path, query := "users/"+url.PathEscape(owner)+"/repos", url.Values{}
		if v, who := c.Viewer(ctx); who == nil && strings.EqualFold(v.Login, owner) {
			path = "user/repos"
			query.Set("affiliation", "owner")
		}
		list, cut, err = c.repositories(ctx, path, query)
	}
	return list, cut, err
}

func (c *Client) repositories(ctx context.Context, path string, query url.Values) (list []Repository, cut bool,
	err error) {
	query.Set("sort", "pushed")
	query.Set("per_page", strconv.Itoa(pageSize))
	found, cut, err := listPages(ownerPages, func(o *gh.ListOptions) (page []*gh.Repository, resp *gh.Response,
		err error) {
		query.Set("page", strconv.Itoa(o.Page))
		resp, err = c.get(ctx, &page, path+"?"+query.Encode())
		return page, resp, err
	})
	for _, r := range found {
		if r.GetFullName() == "" || r.GetDefaultBranch() == "" {
			return nil, false, Wrap("listing "+path, fmt.Errorf("%w: a repository's name or branch", errIncomplete))
		}
		list = append(list, repositoryOf(r))
	}
	return list, cut, Wrap("listing "+path, err)
}
