package site

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// Routes are those that are of no one repository.
func Routes() []Route[*Site] {
	return []Route[*Site]{
		{"GET", "/user", nil, (*Site).getUser},
		{"GET", "/orgs/{org}", nil, (*Site).getOrg},
		{"GET", "/orgs/{org}/repos", nil, (*Site).listRepos},
		{"GET", "/users/{username}/repos", nil, (*Site).listRepos},
		{"GET", "/user/repos", nil, (*Site).listRepos},
		{"GET", "/orgs/{org}/teams/{team_slug}", nil, (*Site).getTeam},
	}
}

func (s *Site) getUser(c *Call) answer {
	if c.Who.Kind != "user" {
		return c.Forbidden()
	}
	v := c.Who.User.JSON()
	v["user_view_type"] = "public"
	return fakehttp.OK(v)
}

// owned are the repositories of an account, by name.
func (s *Site) owned(login string) (all []*Repo) {
	for _, r := range s.repos {
		if strings.EqualFold(r.Owner, login) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *Repo) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (s *Site) getOrg(c *Call) answer {
	u := s.Host.Find(c.PathValue("org"), 0)
	if u == nil || u.Type != "Organization" {
		return fakehttp.NotFound()
	}
	v := u.JSON()
	for _, r := range s.owned(u.Login) {
		if c.Who.Kind != "user" || level(r.permission(c.Who.User.Login)) < level("admin") {
			continue
		}
		plan := r.set.Plan
		if plan == "" {
			plan = "free"
		}
		v["plan"] = object{"name": plan, "space": 1, "private_repos": 1}
	}
	return fakehttp.OK(v)
}

// getTeam knows one team of each organization.
func (s *Site) getTeam(c *Call) answer {
	if s.Host.Find(c.PathValue("org"), 0) == nil || c.PathValue("team_slug") != "maintainers" {
		return fakehttp.NotFound()
	}
	return fakehttp.OK(object{"id": 7, "slug": "maintainers", "name": "maintainers"})
}

// listRepos lists what the token sees of an organization, of a person the public ones, or
// the caller's own.
func (s *Site) listRepos(c *Call) answer {
	org, owner := c.PathValue("org") != "", c.PathValue("org")+c.PathValue("username")
	own := owner == "" && c.Who.Kind == "user"
	if own {
		owner = c.Who.User.Login
	}
	if u := s.Host.Find(owner, 0); u == nil || org != (u.Type == "Organization") {
		return fakehttp.NotFound()
	}
	seen := slices.DeleteFunc(s.owned(owner), func(r *Repo) bool {
		return !c.Who.Sees(r) || r.set.Private && !org && !own
	})
	return fakehttp.Paged(c.Request, seen, (*Repo).JSON)
}
