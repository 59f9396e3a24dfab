package githubtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// object is a JSON object on its way out.
type object = map[string]any

// user is an account.
type user struct {
	Login string
	ID    int64
	Type  string // User, Bot or Organization
	gone  bool   // the account was deleted
}

// actionsBot is the author of what GITHUB_TOKEN writes, actionsBotID GitHub's
// id of it.
const (
	actionsBot   = "github-actions[bot]"
	actionsBotID = 41898282
)

func (u *user) json() object {
	return object{"login": u.Login, "id": u.ID, "type": u.Type}
}

// AddUser makes an account of a type: User, Bot or Organization ("" is User).
// Accounts that a repository, pull request or approval names are made as User,
// or as Bot where the login ends in [bot].
func (s *Server) AddUser(login, kind string) {
	defer s.lock()()
	s.user(login).Type = or(kind, "User")
}

// DeleteUser deletes an account. What it wrote stays, with null for the author,
// or ghost where the description forbids that.
func (s *Server) DeleteUser(login string) {
	defer s.lock()()
	s.user(login).gone = true
}

// author is an account as what it wrote names it.
func (s *Server) author(login string) any {
	u := s.user(login)
	if u.gone {
		return nil
	}
	return u.json()
}

func (s *Server) user(login string) *user {
	if u := s.users[login]; u != nil {
		return u
	}
	u := &user{Login: login, ID: s.nextID(), Type: "User"}
	if strings.HasSuffix(login, "[bot]") {
		u.Type = "Bot"
	}
	s.users[login] = u
	return u
}

// identity is who a token speaks for.
type identity struct {
	kind        string // none, bad, user, app or runtime
	user        *user  // the author of what it writes
	repo        *Repo  // of an app token: the one repository it was made for
	permissions map[string]string
	run         *Run
	attempt     int
	job         string
}

// name is the token in the request log: user:alice, app, runtime, none.
func (i *identity) name() string {
	if i.kind == "user" {
		return "user:" + i.user.Login
	}
	return i.kind
}

// UserToken is a token that may do what the user may.
func (s *Server) UserToken(login string) string {
	defer s.lock()()
	token := "ghp_" + s.digest("user", login)[:36]
	s.tokens[token] = &identity{kind: "user", user: s.user(login)}
	return token
}

// AppToken is what GITHUB_TOKEN is to a job: an installation token of one
// repository with a permission map such as {"contents": "read",
// "pull_requests": "write"}. Scopes that are not named are none; metadata is
// always readable. Reviews made with it are by github-actions[bot].
func (s *Server) AppToken(r *Repo, permissions map[string]string) string {
	defer s.lock()()
	token := fmt.Sprintf("ghs_%d_%s", s.nextID(), s.digest("app", r.FullName(), fmt.Sprint(s.lastID)))
	own := map[string]string{}
	for k, v := range permissions {
		own[strings.ReplaceAll(k, "-", "_")] = v
	}
	s.tokens[token] = &identity{kind: "app", user: s.users[actionsBot], repo: r, permissions: maps.Clone(own)}
	return token
}

// Revoke makes a token answer 401.
func (s *Server) Revoke(token string) {
	defer s.lock()()
	delete(s.tokens, token)
}

func (s *Server) digest(parts ...string) string {
	sum := sha256.Sum256([]byte(string(s.key) + strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// identify finds who a request is from; kind is bad for an unknown token.
func (s *Server) identify(r *http.Request) *identity {
	header := r.Header.Get("Authorization")
	if header == "" {
		return &identity{kind: "none"}
	}
	_, token, _ := strings.Cut(header, " ")
	if who := s.tokens[strings.TrimSpace(token)]; who != nil {
		return who
	}
	return &identity{kind: "bad"}
}

// level orders permissions.
func level(permission string) int {
	return map[string]int{"read": 1, "triage": 1, "write": 2, "maintain": 2, "admin": 3}[permission]
}

// sees reports whether the identity may know that the repository exists.
func (i *identity) sees(r *Repo) bool {
	switch {
	case !r.private:
		return true
	case i.kind == "user":
		return level(r.permission(i.user.Login)) > 0
	}
	return i.repo == r
}

// may reports whether the identity has one of the scopes, each "name:read" or
// "name:write", in a repository that it sees.
func (i *identity) may(r *Repo, scopes []string) bool {
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
	case i.kind == "app" && i.repo == r:
		return level(i.permissions[name]) >= level(want)
	case want == "read" || i.kind == "user" && (name == "pull_requests" || name == "deployments"):
		return true // who sees a repository may read it, and as a user review there; reviewers are checked apart
	}
	return i.kind == "user" && level(r.permission(i.user.Login)) >= level(want)
}

// apiVersion is the one version of the REST interface that is described.
const apiVersion = "2022-11-28"

// admit refuses what the token may not do; the answer counts when stop is set.
func (c *call) admit(rt route) (a answer, stop bool) {
	if v := c.Header.Get("X-GitHub-Api-Version"); v != "" && v != apiVersion {
		return refusal(http.StatusBadRequest, "X-GitHub-Api-Version "+v+" is not supported"), true
	}
	if c.who.kind == "runtime" || c.who.kind == "bad" {
		return refusal(http.StatusUnauthorized, "Bad credentials"), true
	}
	if !strings.HasPrefix(rt.path, "/repos/") {
		return answer{}, false
	}
	c.repo = c.s.repos[strings.ToLower(c.PathValue("owner")+"/"+c.PathValue("repo"))]
	if c.repo == nil || !c.who.sees(c.repo) {
		return notFound(), true
	}
	if c.who.may(c.repo, rt.scopes) {
		return answer{}, false
	}
	return c.forbidden(rt.scopes...), true
}

// forbidden is the answer to a token that lacks the scopes.
func (c *call) forbidden(scopes ...string) answer {
	switch c.who.kind {
	case "app":
		needed := strings.ReplaceAll(strings.Join(scopes, "; "), ":", "=")
		return refusal(http.StatusForbidden, "Resource not accessible by integration").
			with(http.Header{"X-Accepted-Github-Permissions": {needed}})
	case "user":
		return refusal(http.StatusForbidden, "Resource not accessible by personal access token")
	}
	return refusal(http.StatusUnauthorized, "Requires authentication")
}

// headers are those that each answer of the REST interface has.
func (c *call) headers() http.Header {
	h := http.Header{}
	h.Set("X-GitHub-Api-Version-Selected", apiVersion)
	if c.who.kind == "user" {
		h.Set("X-OAuth-Scopes", "repo, workflow")
	}
	return h
}
