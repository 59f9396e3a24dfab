// Package github reads pull requests, runs, artifacts and permissions from
// GitHub's REST API.
//
// It never writes: its client refuses every method but GET, and what writes
// lives in github/write. What it returns is untrusted text in typed
// fields. Start at New and Client.Pull.
package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// Options says where the API is and how to reach it.
type Options struct {
	APIURL     string       // as GITHUB_API_URL has it; see APIURL
	GraphQLURL string       // as GITHUB_GRAPHQL_URL has it; where empty, beside APIURL
	Token      string       // none reads public repositories
	HTTP       *http.Client // transport.New's; it must add no credentials of its own
}

// Client reads from one API with one token. It is safe for concurrent use.
type Client struct {
	base    *url.URL
	graphql *url.URL
	token   string
	http    *http.Client // adds no token
	api     *gh.Client   // adds it, and only reads
}

// New makes a client. It fails with an error of transport.Refused on
// an address that a token must not be sent to; plain http is for loopback, or
// as the HTTP client allows.
func New(o Options) (*Client, error) {
	base, err := transport.CheckURL(strings.TrimSuffix(o.APIURL, "/")+"/", true)
	if err != nil {
		return nil, fmt.Errorf("reading the API's address: %w", err)
	}
	graphql, err := transport.CheckURL(cmp.Or(o.GraphQLURL, graphQLURL(base)), true)
	if err != nil {
		return nil, fmt.Errorf("reading the address of GraphQL: %w", err)
	}
	c := &Client{base: base, graphql: graphql, token: o.Token, http: o.HTTP}
	c.api = c.client(http.MethodGet)
	return c, nil
}

// Authorized reports whether there is a token: without one GitHub hands out no artifact,
// also where it lists them.
func (c *Client) Authorized() bool { return c.token != "" }

// ForWriting is an API client that may also POST, PUT an environment and DELETE a
// review, each request at most once. It is there for github/write alone.
func (c *Client) ForWriting() *gh.Client {
	return c.client(http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete)
}

// changes are the kinds of address that may be changed or deleted.
var changes = map[string]*regexp.Regexp{
	http.MethodPut:    regexp.MustCompile(`/repos/[^/]+/[^/]+/environments/[^/]+$`),
	http.MethodDelete: regexp.MustCompile(`/repos/[^/]+/[^/]+/pulls/[0-9]+/reviews/[0-9]+$`),
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

// APIURL is the API of a pull request's server. GITHUB_API_URL is it where the
// server is that of GITHUB_SERVER_URL (github.com when unset) or has the same
// host; else it is the address that GitHub gives the API of such a server.
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

// GraphQLURL is the address of GraphQL for a pull request: GITHUB_GRAPHQL_URL where
// GITHUB_API_URL is that of its server, else empty. Where only the API's address was
// changed, as under act, GraphQL is not asked at github.com all the same.
func GraphQLURL(ref pull.Ref, getenv func(string) string) string {
	api, graphql := strings.TrimSuffix(getenv("GITHUB_API_URL"), "/"), getenv("GITHUB_GRAPHQL_URL")
	if api == "" || APIURL(ref, getenv) != api || api != publicAPI && graphql == publicAPI+"/graphql" {
		return ""
	}
	return graphql
}

// hostOf is the host of an address, or the other one where it has none.
func hostOf(address, otherwise string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return otherwise
	}
	return strings.ToLower(u.Host)
}

// authorized adds the token to requests to the API and to nothing else, and
// turns answers that say no into *transport.StatusError. It does the latter
// ahead of go-github, which takes no 429 for a rate limit and answers later
// calls itself, with a 403 of its own making, after it has seen a limit.
type authorized struct {
	next    http.RoundTripper
	base    *url.URL
	graphql string
	token   string
	methods []string
}

func (a *authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	if only := changes[req.Method]; !slices.Contains(a.methods, req.Method) || only != nil &&
		!only.MatchString(req.URL.Path) {
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
	sent.Header.Del("User-Agent") // that of the transport counts
	sent.GetBody = nil            // without which no request is sent twice
	if a.token != "" {
		sent.Header.Set("Authorization", "Bearer "+a.token)
	}
	resp, err := a.next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	return accept(req, resp)
}

// accept lets answers through that say yes, in JSON unless asked otherwise. A
// diff may be empty, so its media type has to say that it is one.
func accept(req *http.Request, resp *http.Response) (*http.Response, error) {
	if resp.StatusCode >= 400 {
		return nil, transport.Status(resp)
	}
	resp.Header.Del("X-Ratelimit-Remaining") // of a spent limit go-github would make its own answers
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
		return nil, fmt.Errorf("%d bytes of %q are not an answer of the API; perhaps a proxy or another server answered",
			resp.ContentLength, kind)
	}
	return resp, nil
}

const (
	mediaRaw  = "application/vnd.github.raw+json"
	mediaDiff = "application/vnd.github.diff"
	pageSize  = 100
	maxPages  = 100
)

// get reads one JSON value by hand, where go-github has no call, drops a field
// or does not escape. The path is repoPath's, possibly with a query.
func (c *Client) get(ctx context.Context, v any, path string) (*gh.Response, error) {
	req, err := c.api.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return c.api.Do(ctx, req, v)
}

// repoPath joins escaped parts behind repos/owner/repo.
func repoPath(owner, repo string, parts ...string) string {
	path := "repos"
	for _, p := range append([]string{owner, repo}, parts...) {
		path += "/" + segment(p)
	}
	return path
}

// segment escapes a part of a path, the dots that would climb included.
func segment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// all reads a list page by page, until one says that there is none behind it.
func all[T any](read func(*gh.ListOptions) ([]T, *gh.Response, error)) ([]T, error) {
	var list []T
	o := &gh.ListOptions{Page: 1, PerPage: pageSize}
	for o.Page <= maxPages {
		page, resp, err := read(o)
		if err != nil {
			return nil, err
		}
		list = append(list, page...)
		if resp.NextPage <= o.Page {
			return list, nil
		}
		o.Page = resp.NextPage
	}
	return nil, fmt.Errorf("%w: more than %d pages", ErrTooLarge, maxPages)
}

var errIncomplete = errors.New("the answer lacks fields that it must have")

// whole says what was being done where that failed, or the answer lacks what it must have.
func whole(doing string, err error, ok bool) error {
	if err == nil && !ok {
		err = errIncomplete
	}
	return Wrap(doing, err)
}
