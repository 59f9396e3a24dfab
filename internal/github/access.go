package github

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// Protected reports whether a branch has protection rules.
func (c *Client) Protected(ctx context.Context, owner, repo, branch string) (bool, error) {
	b, err := c.branch(ctx, owner, repo, branch)
	return b.GetProtected(), err
}

func (c *Client) branch(ctx context.Context, owner, repo, name string) (b gh.Branch, err error) {
	_, err = c.get(ctx, &b, repoPath(owner, repo, "branches", name))
	return b, requireComplete(fmt.Sprintf("reading branch %q of %s/%s", name, owner, repo), err, b.GetName() != "")
}

// Permission returns what a user may do in a repository: admin, write, read or none. Every
// user has read on a public repository.
func (c *Client) Permission(ctx context.Context, owner, repo, login string) (string, error) {
	m, err := c.Member(ctx, owner, repo, login)
	return m.Permission, err
}

// MayWrite reports whether a permission lets its holder push.
func MayWrite(permission string) bool { return permission == "admin" || permission == "write" }

// Member is an account and its permission in a repository.
type Member struct {
	ID         int64
	Permission string // admin, write, read or none
	Bot        bool   // an app's account
}

// Member reads an account's permission, as Permission does, and its kind.
func (c *Client) Member(ctx context.Context, owner, repo, login string) (Member, error) {
	var level struct {
		Permission string   `json:"permission"`
		User       *gh.User `json:"user"`
	}
	doing := fmt.Sprintf("reading the permission of %q in %s/%s", login, owner, repo)
	if login == "" {
		return Member{}, Wrap(doing, ErrNotFound)
	}
	_, err := c.get(ctx, &level, repoPath(owner, repo, "collaborators", login, "permission"))
	known := slices.Contains([]string{"admin", "write", "read", "none"}, level.Permission)
	if err = requireComplete(doing, err, known); err != nil {
		return Member{}, err
	}
	return Member{ID: level.User.GetID(), Permission: level.Permission, Bot: level.User.GetType() == "Bot"}, nil
}

// CanWritePulls reports what can be known in advance about posting reviews. known is false if
// only an attempt can tell: the API does not show the rights of an app's token (a job's
// included) or of a fine-grained one.
func (c *Client) CanWritePulls(ctx context.Context, owner, repo string) (known, ok bool, err error) {
	return c.hasRight(ctx, "pull", owner, repo)
}

// CanPush is like CanWritePulls, but for pushing commits and creating branches.
func (c *Client) CanPush(ctx context.Context, owner, repo string) (known, ok bool, err error) {
	return c.hasRight(ctx, "push", owner, repo)
}

func (c *Client) hasRight(ctx context.Context, right, owner, repo string) (known, ok bool, err error) {
	if c.token == "" {
		return true, false, nil
	}
	r, resp, err := c.api.Repositories.Get(ctx, segment(owner), segment(repo))
	err = requireComplete(fmt.Sprintf("reading the token's rights in %s/%s", owner, repo), err, r.GetID() != 0)
	if err != nil {
		return false, false, err
	}
	header, classic := resp.Header["X-Oauth-Scopes"]
	if !classic {
		return false, false, nil
	}
	scopes := strings.FieldsFunc(strings.Join(header, ","), func(r rune) bool { return r == ',' || r == ' ' })
	posts := slices.Contains(scopes, "repo") || !r.GetPrivate() && slices.Contains(scopes, "public_repo")
	has, listed := r.Permissions[right]
	return true, posts && (has || !listed), nil
}

// Environment is a deployment environment and its protection.
type Environment struct {
	ID        int64
	Name      string
	Reviewers int      // users and teams, one of whom must approve
	Users     []string // their logins
	Teams     []string // their slugs, of the owning organization
	NoSelf    bool     // whoever started the run may not approve it
	Rules     int      // protection rules of any kind
	Limited   bool     // only certain branches may deploy to it
	Custom    bool     // those branches are the ones that Client.DeploymentBranches lists; otherwise the protected ones
}

// Environment reads an environment. It returns ErrNotFound if there is none.
func (c *Client) Environment(ctx context.Context, owner, repo, name string) (Environment, error) {
	var e struct {
		ID    int64  `json:"id"`
		Name  string `json:"name"`
		Rules []struct {
			Type      string `json:"type"`
			NoSelf    bool   `json:"prevent_self_review"`
			Reviewers []struct {
				Reviewer struct{ Login, Slug string } `json:"reviewer"`
			} `json:"reviewers"`
		} `json:"protection_rules"`
		Branches *struct {
			Custom bool `json:"custom_branch_policies"`
		} `json:"deployment_branch_policy"`
	}
	doing := fmt.Sprintf("reading environment %q of %s/%s", name, owner, repo)
	_, err := c.get(ctx, &e, repoPath(owner, repo, "environments", name))
	if err = requireComplete(doing, err, e.Name != ""); err != nil {
		return Environment{}, err
	}
	found := Environment{ID: e.ID, Name: e.Name, Rules: len(e.Rules), Limited: e.Branches != nil,
		Custom: e.Branches != nil && e.Branches.Custom}
	for _, rule := range e.Rules {
		if rule.Type != "required_reviewers" {
			continue
		}
		found.Reviewers, found.NoSelf = found.Reviewers+len(rule.Reviewers), found.NoSelf || rule.NoSelf
		for _, r := range rule.Reviewers {
			if r.Reviewer.Login != "" {
				found.Users = append(found.Users, r.Reviewer.Login)
			} else if r.Reviewer.Slug != "" {
				found.Teams = append(found.Teams, r.Reviewer.Slug)
			}
		}
	}
	return found, nil
}

// InTeam reports whether an account is an active member of an organization's team. It returns
// ErrNoAccess or ErrNotFound to a token that may not read this, such as a job's, and
// ErrNotFound for an account that is not a member.
func (c *Client) InTeam(ctx context.Context, org, team, login string) (bool, error) {
	var m struct {
		State string `json:"state"`
	}
	path := "orgs/" + url.PathEscape(org) + "/teams/" + url.PathEscape(team) + "/memberships/" + url.PathEscape(login)
	_, err := c.get(ctx, &m, path)
	return m.State == "active", Wrap(fmt.Sprintf("reading whether %q is in team %s/%s", login, org, team), err)
}
