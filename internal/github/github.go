// Package github reads pull requests, runs, artifacts and permissions from GitHub's REST API.
//
// It never writes: its client refuses every method but GET, and all writing is in
// github/write. It returns untrusted text in typed fields. Start at New and Client.Pull.
package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// Options describes where the API is and how to reach it.
type Options struct {
	APIURL     string       // in the form of GITHUB_API_URL; see APIURL
	GraphQLURL string       // in the form of GITHUB_GRAPHQL_URL; if empty, derived from APIURL
	Token      string       // empty to read public repositories
	HTTP       *http.Client // from transport.New; it must not add its own credentials
}

// Client reads from one API with one token. It is safe for concurrent use.
type Client struct {
	base    *url.URL
	graphql *url.URL
	token   string
	http    *http.Client // adds no token
	api     *gh.Client   // adds the token, and only reads
}

// New makes a client. It returns an error of the kind transport.Refused for an address that
// must not receive a token. Plain http is for loopback, or as the HTTP client allows.
func New(o Options) (*Client, error) {
	base, err := transport.CheckURL(strings.TrimSuffix(o.APIURL, "/")+"/", true)
	if err != nil {
		return nil, fmt.Errorf("reading the API's address: %w", err)
	}
	graphql, err := transport.CheckURL(cmp.Or(o.GraphQLURL, graphQLURL(base)), true)
	if err != nil {
		return nil, fmt.Errorf("reading the address of GraphQL: %w", err)
	}
	c := &Client{base: base, graphql: graphql, token: strings.TrimSpace(o.Token), http: o.HTTP}
	c.api = c.client(http.MethodGet)
	return c, nil
}

// Authorized reports whether the client has a token: without one GitHub serves no artifact,
// even if it lists them.
func (c *Client) Authorized() bool { return c.token != "" }

// ForWriting returns an API client that may also POST, PUT an environment and DELETE a
// review, each request at most once. Only github/write may use it.
func (c *Client) ForWriting() *gh.Client {
	return c.client(http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete)
}

// changeable maps a method to the addresses that it may change or delete.
var changeable = map[string]func() *regexp.Regexp{
	http.MethodPut:    pattern.Lazy(`/repos/[^/]+/[^/]+/environments/[^/]+$`),
	http.MethodDelete: pattern.Lazy(`/repos/[^/]+/[^/]+/pulls/[0-9]+/reviews/[0-9]+$`),
}

func (c *Client) client(methods ...string) *gh.Client {
	hc := *c.http
	hc.Transport = &authorized{next: hc.Transport, base: c.base, graphql: c.graphql.String(), token: c.token,
		methods: methods}
	api := gh.NewClient(&hc)
	api.BaseURL = c.base
	return api
}

// publicAPI is the API of github.com.
const publicAPI = "https://api.github.com"

// APIURL returns the address of the API for a pull request's server. This is GITHUB_API_URL
// if the server is that of GITHUB_SERVER_URL (github.com if unset) or has the same host, else
// the address that GitHub gives the API of such a server.
func APIURL(ref pull.Ref, getenv func(string) string) string {
	api := strings.TrimSuffix(getenv("GITHUB_API_URL"), "/")
	if api != "" && (hostOf(getenv("GITHUB_SERVER_URL"), pull.DefaultHost) == ref.Host || hostOf(api, "") == ref.Host) {
		return api
	}
	switch {
	case ref.Host == pull.DefaultHost:
		return publicAPI
	case strings.HasSuffix(ref.Host, ".ghe.com"):
		return "https://api." + ref.Host
	}
	return ref.Server() + "/api/v3"
}

// GraphQLURL returns GITHUB_GRAPHQL_URL if GITHUB_API_URL belongs to the pull request's
// server, otherwise "". If only the API's address was changed, as under act, it does not send
// GraphQL to github.com.
func GraphQLURL(ref pull.Ref, getenv func(string) string) string {
	api, graphql := strings.TrimSuffix(getenv("GITHUB_API_URL"), "/"), getenv("GITHUB_GRAPHQL_URL")
	if api == "" || APIURL(ref, getenv) != api || api != publicAPI && graphql == publicAPI+"/graphql" {
		return ""
	}
	return graphql
}

// hostOf returns the host of an address, or otherwise if it has none.
func hostOf(address, otherwise string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return otherwise
	}
	return strings.ToLower(u.Host)
}

// authorized adds the token to requests to the API and to nothing else, and turns failed
// answers into *transport.StatusError. It does so before go-github sees them, which takes no
// 429 for a rate limit and, after a limit, answers later calls itself with a 403 that it made
// up.
type authorized struct {
	next    http.RoundTripper
	base    *url.URL
	graphql string
	token   string
	methods []string
}

func (a *authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	if only := changeable[req.Method]; !slices.Contains(a.methods, req.Method) || only != nil &&
		!only().MatchString(req.URL.Path) {
		return nil, fmt.Errorf("a reading client sends no %s", req.Method)
	}
	graphql := req.URL.String() == a.graphql
	if asks := slices.Equal(a.methods, []string{http.MethodPost}); asks && !graphql {
		return nil, fmt.Errorf("a reading client sends no %s but to GraphQL", req.Method)
	}
	if !graphql && (req.URL.Host != a.base.Host || req.URL.Scheme != a.base.Scheme) {
		return nil, fmt.Errorf("%w: from %s to %s", transport.ErrRedirect, a.base.Host, req.URL.Host)
	}
	sent := req.Clone(req.Context())
	sent.Header.Del("User-Agent") // the transport sets its own
	sent.GetBody = nil            // without it no request is sent twice
	if a.token != "" {
		sent.Header.Set("Authorization", "Bearer "+a.token)
	}
	resp, err := a.next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	return accept(req, resp)
}

// accept passes successful answers in JSON or in the type that was requested. A diff may be
// empty, so its media type has to say that it is a diff.
func accept(req *http.Request, resp *http.Response) (*http.Response, error) {
	if resp.StatusCode >= 400 {
		return nil, transport.Status(resp)
	}
	if resp.StatusCode == http.StatusSeeOther && resp.Header.Get("Location") == "" {
		resp.StatusCode = http.StatusNoContent // a POST would have made what is there
	}
	resp.Header.Del("X-Ratelimit-Remaining") // else go-github answers for a spent limit by itself
	resp.Header.Del("X-Ratelimit-Reset")
	asked, kind := req.Header.Get("Accept"), resp.Header.Get("Content-Type")
	if resp.StatusCode >= 300 || asked == mediaRaw || asked == mediaDiff && strings.Contains(kind, ".diff") {
		return resp, nil
	}
	if resp.StatusCode == http.StatusNoContent && req.Method == http.MethodPost {
		return resp, nil
	}
	// go-github takes an empty answer for an empty value
	if asked == mediaDiff || resp.ContentLength == 0 || strings.HasPrefix(kind, "text/html") {
		resp.Body.Close()
		return nil, problem.As(problem.Failed, fmt.Errorf("%d bytes of %q are not an answer of the API",
			resp.ContentLength, kind), notGitHub)
	}
	return resp, nil
}

const (
	mediaRaw  = "application/vnd.github.raw+json"
	mediaDiff = "application/vnd.github.diff"
	pageSize  = 100
	maxPages  = 100
)

// get reads one JSON value for which go-github has no call, drops a field or does not escape.
// path comes from repoPath, possibly with a query.
func (c *Client) get(ctx context.Context, v any, path string) (*gh.Response, error) {
	req, err := c.api.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return c.api.Do(ctx, req, v)
}

// repoPath joins escaped parts after repos/owner/repo.
func repoPath(owner, repo string, parts ...string) string {
	path := "repos"
	for _, p := range append([]string{owner, repo}, parts...) {
		path += "/" + segment(p)
	}
	return path
}

// segment escapes a part of a path, including dots that would climb out of it.
func segment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// listAll reads a list to its last page.
func listAll[T any](read func(*gh.ListOptions) ([]T, *gh.Response, error)) ([]T, error) {
	list, more, err := listPages(maxPages, read)
	if more {
		return nil, fmt.Errorf("%w: more than %d pages", ErrTooLarge, maxPages)
	}
	return list, err
}

// listPages reads a list up to a number of pages. more reports whether other pages follow.
func listPages[T any](pages int,
	read func(*gh.ListOptions) ([]T, *gh.Response, error)) (list []T, more bool, err error) {
	for page := 1; page <= pages; page++ {
		part, resp, err := read(&gh.ListOptions{Page: page, PerPage: pageSize})
		if err != nil {
			return nil, false, err
		}
		list = append(list, part...)
		if more = resp.NextPage > page; !more {
			break
		}
	}
	return list, more, nil
}

var errIncomplete = problem.Sentinel("the answer lacks fields that it must have", notGitHub)

const notGitHub = "run it again; see that no proxy or other server answers in GitHub's place"

// requireComplete wraps err, or errIncomplete if ok is false, with what was being done.
func requireComplete(doing string, err error, ok bool) error {
	if err == nil && !ok {
		err = errIncomplete
	}
	return Wrap(doing, err)
}
