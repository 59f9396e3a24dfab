package githubtest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

type site struct {
	*host
	tokens

	spec  *fakehttp.Description
	repos map[string]*Repo
}

// AddRepo makes a repository, owner/name. Its owner is an admin of it.
func (s *site) AddRepo(fullName string, o RepoOptions) *Repo {
	defer s.Lock()()
	r := newRepo(s.host, fullName, o)
	s.repos[strings.ToLower(fullName)] = r
	return r
}

// Repo finds a repository by owner/name; nil if there is none.
func (s *site) Repo(fullName string) *Repo {
	defer s.Lock()()
	return s.named(fullName)
}

func (s *site) named(fullName string) *Repo { return s.repos[strings.ToLower(fullName)] }

// Visible is a repository where a call may know of it; nil if it may not.
func (s *site) Visible(c *call, owner, name string) *Repo {
	if r := s.named(owner + "/" + name); r != nil && c.Who.Sees(r) {
		return r
	}
	return nil
}

func (s *site) call(r *http.Request, body []byte) *call { return &call{r, s.host, s.identify(r), body} }

// apiVersion is the one version of the REST interface that is described.
const apiVersion = "2022-11-28"

var (
	parameter = regexp.MustCompile(`\{(\w+)\}`)
	deep      = regexp.MustCompile(`\{(path|ref|basehead)\}$`) // those that hold slashes
)

// mount serves routes. Limits, access and scopes come first, as on GitHub, then the description, then the handler. Its
// T is what of finds by the path and its repository, which is nil where the path has none; 404 where it finds nothing.
func mount[T any](s *site, mux *http.ServeMux, routes []route[T], of func(*Repo, *call) *T) {
	for _, rt := range routes {
		pattern := rt.Method + " " + deep.ReplaceAllString(rt.Path, "{$1...}")
		mux.Handle(pattern, s.Handler("api", func(r *http.Request, body []byte) answer {
			c := s.call(r, body)
			repo, a, refused := s.admit(c, rt.Path, rt.Scopes)
			if !refused {
				a = s.spec.Hold(s.Front, r, body, rt.Path, variables(r, rt.Path), func() answer {
					if t := of(repo, c); t != nil {
						return rt.Handle(t, c)
					}
					return fakehttp.NotFound()
				})
			}
			if c.Who.Kind == "user" {
				a = a.With(http.Header{"X-Oauth-Scopes": {"repo, workflow"}})
			}
			return a
		}))
	}
}

func variables(r *http.Request, path string) map[string]string {
	vars := map[string]string{}
	for _, m := range parameter.FindAllStringSubmatch(path, -1) {
		vars[m[1]] = r.PathValue(m[1])
	}
	return vars
}

// admit refuses what the token may not do, and finds the repository of the path.
func (s *site) admit(c *call, path string, scopes []string) (r *Repo, a answer, refused bool) {
	if v := c.Header.Get("X-GitHub-Api-Version"); v != "" && v != apiVersion {
		return nil, fakehttp.Refusal(http.StatusBadRequest, "X-GitHub-Api-Version "+v+" is not supported"), true
	}
	if c.Who.Kind == "bad" {
		return nil, fakehttp.Refusal(http.StatusUnauthorized, "Bad credentials"), true
	}
	if !strings.HasPrefix(path, repoPath) {
		return nil, answer{}, false
	}
	r = s.Visible(c, c.PathValue("owner"), c.PathValue("repo"))
	switch {
	case r == nil:
		return nil, fakehttp.NotFound(), true
	case !c.Who.May(r, scopes...):
		return nil, c.Forbidden(scopes...), true
	}
	return r, answer{}, false
}

func siteRoutes() []route[site] {
	return []route[site]{
		{"GET", "/user", nil, (*site).getUser},
		{"GET", "/orgs/{org}", nil, (*site).getOrg},
		{"GET", "/orgs/{org}/repos", nil, (*site).listRepos},
		{"GET", "/users/{username}/repos", nil, (*site).listRepos},
		{"GET", "/user/repos", nil, (*site).listRepos},
		{"GET", "/orgs/{org}/teams/{team_slug}", nil, (*site).getTeam},
	}
}

func (s *site) getUser(c *call) answer {
	if c.Who.Kind != "user" {
		return c.Forbidden()
	}
	v := c.Who.User.JSON()
	v["user_view_type"] = "public"
	return fakehttp.OK(v)
}

func (s *site) owned(login string) (all []*Repo) {
	for _, r := range s.repos {
		if strings.EqualFold(r.Owner, login) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *Repo) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (s *site) getOrg(c *call) answer {
	u := s.host.Find(c.PathValue("org"), 0)
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
func (s *site) getTeam(c *call) answer {
	if s.host.Find(c.PathValue("org"), 0) == nil || c.PathValue("team_slug") != "maintainers" {
		return fakehttp.NotFound()
	}
	return fakehttp.OK(object{"id": 7, "slug": "maintainers", "name": "maintainers"})
}

// listRepos lists what the token sees of an organization, of a person the public ones, or the caller's own.
func (s *site) listRepos(c *call) answer {
	org, owner := c.PathValue("org") != "", c.PathValue("org")+c.PathValue("username")
	own := owner == "" && c.Who.Kind == "user"
	if own {
		owner = c.Who.User.Login
	}
	if u := s.host.Find(owner, 0); u == nil || org != (u.Type == "Organization") {
		return fakehttp.NotFound()
	}
	seen := slices.DeleteFunc(s.owned(owner), func(r *Repo) bool {
		return !c.Who.Sees(r) || r.set.Private && !org && !own
	})
	return fakehttp.Paged(c.Request, seen, (*Repo).JSON)
}
