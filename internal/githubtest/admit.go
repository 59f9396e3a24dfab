package githubtest

import (
	"net/http"
	"strings"
)

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
