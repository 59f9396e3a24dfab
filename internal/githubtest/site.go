package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

type site struct {
	*host
	spec   *fakehttp.Description
	tokens map[string]*identity
	repos  map[string]*Repo
}

// AddRepo makes a repository, owner/name. Its owner is an admin of it.
func (s *site) AddRepo(fullName string, o RepoOptions) *Repo {
	defer s.Lock()()
	r := newRepo(s.host, fullName, o)
	s.repos[strings.ToLower(fullName)] = r
	return r
}

// Repo returns a repository by owner/name; nil if there is none.
func (s *site) Repo(fullName string) *Repo {
	defer s.Lock()()
	return s.lookup(fullName)
}

func (s *site) lookup(fullName string) *Repo { return s.repos[strings.ToLower(fullName)] }

// Visible returns a repository if a call may know of it, otherwise nil.
func (s *site) Visible(c *call, owner, name string) *Repo {
	if r := s.lookup(owner + "/" + name); r != nil && c.Who.Sees(r) {
		return r
	}
	return nil
}

func (s *site) call(r *http.Request, body []byte) *call { return &call{r, s.host, s.identify(r), body} }

// apiVersion is the only version of the REST interface in the description.
const apiVersion = "2022-11-28"

var (
	parameter = regexp.MustCompile(`\{(\w+)\}`)
	deep      = regexp.MustCompile(`\{(path|ref|basehead)\}$`) // parameters that contain slashes
)

// mount serves routes. Limits, access and scopes are checked first, as on GitHub, then the description; then the
// handler runs. of finds its T by the path and its repository, which may be nil; the answer is 404 if it finds none.
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

func (s *site) reposOf(login string) (all []*Repo) {
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
	for _, r := range s.reposOf(u.Login) {
		if c.Who.Kind != "user" || level(r.permission(c.Who.User.Login)) < level("admin") {
			continue
		}
		v["plan"] = object{"name": cmp.Or(r.set.Plan, "free"), "space": 1, "private_repos": 1}
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

// listRepos lists an organization's repositories that the token sees, a person's public ones, or the caller's own.
func (s *site) listRepos(c *call) answer {
	org, owner := c.PathValue("org") != "", c.PathValue("org")+c.PathValue("username")
	own := owner == "" && c.Who.Kind == "user"
	if own {
		owner = c.Who.User.Login
	}
	if u := s.host.Find(owner, 0); u == nil || org != (u.Type == "Organization") {
		return fakehttp.NotFound()
	}
	seen := slices.DeleteFunc(s.reposOf(owner), func(r *Repo) bool {
		return !c.Who.Sees(r) || r.set.Private && !org && !own
	})
	return fakehttp.Paged(c.Request, seen, (*Repo).JSON)
}

type call struct {
	*http.Request
	Host *host
	Who  *identity
	Body []byte
}

// Read decodes a body that the description has let through.
func (c *call) Read(q any) {
	if err := json.Unmarshal(c.Body, q); err != nil && len(c.Body) > 0 {
		c.Host.Violation("body of %s %s: %v", c.Method, c.URL.Path, err)
	}
}

// Forbidden returns the answer to a token that lacks the scopes.
func (c *call) Forbidden(scopes ...string) answer {
	switch c.Who.Kind {
	case "app":
		needed := strings.ReplaceAll(strings.Join(scopes, "; "), ":", "=")
		return fakehttp.Refusal(http.StatusForbidden, "Resource not accessible by integration").
			With(http.Header{"X-Accepted-Github-Permissions": {needed}})
	case "user":
		return fakehttp.Refusal(http.StatusForbidden, "Resource not accessible by personal access token")
	}
	return fakehttp.Refusal(http.StatusUnauthorized, "Requires authentication")
}

// route is one operation on a T: its path in the description, the scopes of which a token needs one, and its handler.
type route[T any] struct {
	Method, Path string
	Scopes       []string
	Handle       func(*T, *call) fakehttp.Answer
}

const repoPath = "/repos/{owner}/{repo}"

// identity is the account that a token belongs to.
type identity struct {
	Kind string         // none, bad, user or app
	User *fakehttp.User // the author of what it writes; nil for none and bad

	repo        *Repo // of an app token: the only repository it is for
	permissions map[string]string
}

// UserToken returns a token for a test that may do what the user may.
func (s *site) UserToken(login string) string {
	defer s.host.Lock()()
	token := "ghp_" + s.host.Digest("user", login)[:36]
	s.tokens[token] = &identity{Kind: "user", User: s.host.User(login)}
	return token
}

// AppToken returns a job's GITHUB_TOKEN: a token of one repository with a permission map such as {"contents": "read",
// "pull_requests": "write"}. Scopes that the map lacks are none; metadata is always readable. What it writes is by
// github-actions[bot].
func (s *site) AppToken(r *Repo, permissions map[string]string) string {
	defer s.host.Lock()()
	id := fmt.Sprint(s.host.NextID())
	part := func(name string) string { return s.host.Digest(name, r.FullName(), id) }
	token := "ghs_" + id + "_eyJ" + part("head") + ".eyJ" + part("installation") + part("claims") + part("times") +
		"." + part("a") + part("b") + part("c") + part("d") // as long as GitHub's, which are signed claims
	who := &identity{Kind: "app", User: s.host.User(fakehttp.ActionsBot), repo: r, permissions: map[string]string{}}
	for k, v := range permissions {
		who.permissions[strings.ReplaceAll(k, "-", "_")] = v
	}
	s.tokens[token] = who
	return token
}

// Revoke makes a token answer 401, for a test.
func (s *site) Revoke(token string) { fakehttp.Do(s.host, func() { delete(s.tokens, token) }) }

// identify returns the sender of a request; its kind is bad for an unknown token.
func (s *site) identify(r *http.Request) *identity {
	if r.Header.Get("Authorization") == "" {
		return &identity{Kind: "none"}
	}
	if who := s.tokens[fakehttp.Token(r)]; who != nil {
		return who
	}
	return &identity{Kind: "bad"}
}

// Is reports whether the identity writes as an account.
func (i *identity) Is(login string) bool { return i.User != nil && i.User.Login == login }

// Sees reports whether the identity may know that the repository exists.
func (i *identity) Sees(r *Repo) bool {
	switch {
	case !r.set.Private:
		return true
	case i.Kind == "user":
		return level(r.permission(i.User.Login)) > 0
	}
	return i.repo == r
}

// May reports whether the identity has one of the scopes, "name:read" or "name:write", in a repository that it sees.
func (i *identity) May(r *Repo, scopes ...string) bool {
	for _, scope := range scopes {
		name, want, _ := strings.Cut(scope, ":")
		if i.allowed(r, name, want) {
			return true
		}
	}
	return len(scopes) == 0
}

func (i *identity) allowed(r *Repo, name, want string) bool {
	switch {
	case name == "metadata":
		return true
	case i.Kind == "app" && i.repo == r:
		return level(i.permissions[name]) >= level(want)
	case want == "read" || i.Kind == "user" && (name == "pull_requests" || name == "deployments"):
		return true // whoever sees a repository may read it, and as a user review there; reviewers are checked apart
	}
	return i.Kind == "user" && level(r.permission(i.User.Login)) >= level(want)
}
