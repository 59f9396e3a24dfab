package site

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// Call is a request on its way through a handler.
type Call struct {
	*http.Request
	Host *Host
	Who  *Identity
	Body []byte
}

// Read decodes a body that the description has let through.
func (c *Call) Read(q any) {
	if err := json.Unmarshal(c.Body, q); err != nil && len(c.Body) > 0 {
		c.Host.Violation("body of %s %s: %v", c.Method, c.URL.Path, err)
	}
}

// Forbidden is the answer to a token that lacks the scopes.
func (c *Call) Forbidden(scopes ...string) answer {
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

// Route is one operation on a T: the path as the description writes it, the scopes of
// which a token needs one, and what answers it.
type Route[T any] struct {
	Method, Path string
	Scopes       []string
	Handle       func(*T, *Call) fakehttp.Answer
}

// On is a route.
func On[T any](method, path string, scopes []string, handle func(*T, *Call) fakehttp.Answer) Route[T] {
	return Route[T]{method, path, scopes, handle}
}

// RepoPath begins the path of a route that is of one repository.
const RepoPath = "/repos/{owner}/{repo}"
