package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

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

// Forbidden is the answer to a token that lacks the scopes.
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

// route is one operation on a T: the path as the description writes it, the scopes of
// which a token needs one, and what answers it.
type route[T any] struct {
	Method, Path string
	Scopes       []string
	Handle       func(*T, *call) fakehttp.Answer
}

const repoPath = "/repos/{owner}/{repo}"

// identity is who a token speaks for.
type identity struct {
	Kind string // none, bad, user or app
	User *user  // the author of what it writes; nil for none and bad

	repo        *Repo // of an app token: the one repository it was made for
	permissions map[string]string
}

type tokens struct {
	host *host
	all  map[string]*identity
}

// UserToken is a token for a test that may do what the user may.
func (t *tokens) UserToken(login string) string {
	defer t.host.Lock()()
	token := "ghp_" + t.host.Digest("user", login)[:36]
	t.all[token] = &identity{Kind: "user", User: t.host.User(login)}
	return token
}

// AppToken is what GITHUB_TOKEN is to a job: a token of one repository with a permission map such as
// {"contents": "read", "pull_requests": "write"}. Scopes that are not named are none; metadata is always readable. What
// is written with it is by github-actions[bot].
func (t *tokens) AppToken(r *Repo, permissions map[string]string) string {
	defer t.host.Lock()()
	id := fmt.Sprint(t.host.NextID())
	token := "ghs_" + id + "_" + t.host.Digest("app", r.FullName(), id)
	who := &identity{Kind: "app", User: t.host.User(actionsBot), repo: r, permissions: map[string]string{}}
	for k, v := range permissions {
		who.permissions[strings.ReplaceAll(k, "-", "_")] = v
	}
	t.all[token] = who
	return token
}

// Revoke makes a token answer 401, for a test.
func (t *tokens) Revoke(token string) { fakehttp.Do(t.host, func() { delete(t.all, token) }) }

func tokenOf(r *http.Request) string {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token)
}

// identify finds who a request is from; the kind is bad for an unknown token.
func (t *tokens) identify(r *http.Request) *identity {
	if r.Header.Get("Authorization") == "" {
		return &identity{Kind: "none"}
	}
	if who := t.all[tokenOf(r)]; who != nil {
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

// May reports whether the identity has one of the scopes, each "name:read" or
// "name:write", in a repository that it sees.
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
		return true // who sees a repository may read it, and as a user review there; reviewers are checked apart
	}
	return i.Kind == "user" && level(r.permission(i.User.Login)) >= level(want)
}
