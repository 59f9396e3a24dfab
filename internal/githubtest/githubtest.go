// Package githubtest is a GitHub on loopback: repositories with history, pull requests, reviews, workflow runs,
// environments and artifacts behind the REST interface, with the signed storage next to it.
//
// It keeps state, checks permissions by token, and checks each REST request and answer against GitHub's published
// description; a violation fails the test. It never leaves the machine and knows nothing of the product. Methods for
// tests take the lock; handlers run under it. Start reading at New and Repo. Below it are memgit (commits), runner (the
// services that a runner's jobs use) and fakehttp (requests, faults, the description).
package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/memgit"
	"github.com/org/pr-review-action/internal/githubtest/runner"
)

// Names for tests from the packages below.
type (
	Tree     = memgit.Tree
	File     = memgit.File
	Fault    = fakehttp.Fault
	Request  = fakehttp.Request
	Artifact = runner.Artifact
)

// GitHub's answers to too many requests.
var (
	RateLimited    = fakehttp.RateLimited
	SecondaryLimit = fakehttp.SecondaryLimit
)

// Link returns the content of a file of a Tree that is a symbolic link.
var Link = memgit.Link

// Short names for what every handler returns.
type (
	answer = fakehttp.Answer
	object = fakehttp.Object
)

// host is a server's host with its accounts. Its URL is GITHUB_API_URL; URL+"/api/v3" works too.
type host struct {
	*fakehttp.Host
	WebURL     string // GITHUB_SERVER_URL
	PatchLines int    // changed lines from which a file has no patch
}

// Options configures a server. The zero value serves on 127.0.0.1.
type Options struct {
	WebURL         string // of html_url; https://github.com
	PatchLines     int    // changed lines from which a file has no patch; 2000
	SharedAttempts bool   // see runner.NewService
	Now            func() time.Time
	Violation      func(reason string) // called for each request or answer that the description forbids
}

// Server is the running fake. Its methods may be called at any time, even while it serves requests.
type Server struct {
	*site
	ResultsURL string // ACTIONS_RESULTS_URL

	services  *runner.Service
	api, blob *httptest.Server
}

// New starts a server that ends with the test. Requests and answers that the description forbids fail the test.
func New(t testing.TB, options ...Options) *Server {
	t.Helper()
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	if o.Violation == nil {
		o.Violation = func(reason string) { t.Errorf("githubtest: %s", reason) }
	}
	s, err := Start(o)
	if err != nil {
		t.Fatalf("githubtest: %v", err)
	}
	t.Cleanup(func() {
		s.Close()
		*s = Server{} // the testing package keeps this cleanup until all parallel tests have ended
	})
	return s
}

// Start starts a server outside a test; Close ends it. Violations returns what the description forbids.
func Start(o Options) (*Server, error) {
	spec, err := fakehttp.LoadDescription()
	if err != nil {
		return nil, fmt.Errorf("reading the description: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &host{Host: fakehttp.NewHost(o.Violation, o.Now),
		WebURL: cmp.Or(o.WebURL, "https://github.com"), PatchLines: cmp.Or(o.PatchLines, 2000)}
	w := &site{h, spec, map[string]*identity{}, map[string]*Repo{}}
	s := &Server{site: w, services: runner.NewService(h.Host, o.SharedAttempts)}
	s.api, s.blob = httptest.NewServer(s.handler()), httptest.NewServer(h.Handler("storage", h.Storage.Serve))
	h.URL, h.Storage.URL, s.ResultsURL = s.api.URL, s.blob.URL, s.api.URL+"/"
	return s, nil
}

// handler serves the API's host, and also /api/v3 below it, where an Enterprise Server has its REST interface.
func (s *Server) handler() http.Handler {
	mux, w := http.NewServeMux(), s.site
	mount(w, mux, siteRoutes(), func(*Repo, *call) *site { return w })
	mount(w, mux, repoRoutes(), func(r *Repo, _ *call) *Repo { return r })
	mount(w, mux, workflowRoutes(), func(r *Repo, _ *call) *Workflows { return r.Workflows })
	mount(w, mux, runRoutes(), func(r *Repo, c *call) *Run {
		return r.Workflows.runs[int64(fakehttp.Number(c.PathValue("run_id")))]
	})
	mount(w, mux, issueRoutes(), func(r *Repo, c *call) *issue {
		return r.issues.all[fakehttp.Number(c.PathValue("issue_number"))]
	})
	mount(w, mux, pullsRoutes(), func(r *Repo, _ *call) *pulls { return &r.pulls })
	mount(w, mux, pullRoutes(), func(r *Repo, c *call) *Pull {
		return r.of[fakehttp.Number(c.PathValue("pull_number"))]
	})
	mount(w, mux, checkRoutes(), func(r *Repo, _ *call) *checks { return &r.checks })
	s.services.Mount(mux)
	mux.Handle("POST /graphql", w.Handler("api", w.serveGraphQL))
	mux.Handle("POST /api/graphql", w.Handler("api", w.serveGraphQL))
	mux.Handle("/", w.Handler("api", func(*http.Request, []byte) answer { return fakehttp.NotFound() }))
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3")
		r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, "/api/v3")
		mux.ServeHTTP(out, r)
	})
}

// RuntimeToken returns ACTIONS_RUNTIME_TOKEN of a job in the run's current attempt.
func (s *Server) RuntimeToken(run *Run, name string) string { return s.services.Token(&run.Run, name) }

// Close ends the server after the requests in progress.
func (s *Server) Close() {
	s.api.Close()
	s.blob.Close()
}
