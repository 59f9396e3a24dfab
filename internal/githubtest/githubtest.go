// Package githubtest is a GitHub on loopback: repositories with history, pull
// requests, reviews, workflow runs, environments and artifacts behind the REST
// interface, the runner's artifact protocol and the signed storage next to it.
//
// It keeps state, checks permissions by token and holds each REST request and
// answer against GitHub's published description; what does not fit fails the
// test. It never leaves the machine and knows nothing of the product. Start
// reading at New, AddRepo and Repo.AddPull; serve.go has the table of routes.
package githubtest

import (
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Options of a server. The zero value serves plain HTTP on 127.0.0.1.
type Options struct {
	Host       string // name written into URLs; 127.0.0.1, which is listened on
	TLS        bool   // serve HTTPS under a certificate of its own, see CertificatePEM
	WebURL     string // of html_url; https://github.com
	PatchLines int    // changed lines from which a file comes without patch; 2000
	// the runtime protocol shows artifacts of earlier attempts after Rerun; real behaviour unknown
	SharedAttempts bool
	Now            func() time.Time    // time.Now
	Violation      func(reason string) // called for each request or answer that the description forbids
}

func (o Options) withDefaults() Options {
	o.Host = or(o.Host, "127.0.0.1")
	o.WebURL = or(o.WebURL, "https://github.com")
	o.PatchLines = or(o.PatchLines, 2000)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Violation == nil {
		o.Violation = func(string) {}
	}
	return o
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Server is the running fake. Its methods may be called at any time, also
// while requests are served.
type Server struct {
	URL        string // GITHUB_API_URL, without trailing slash; URL+"/api/v3" works as well
	ResultsURL string // ACTIONS_RESULTS_URL
	BlobURL    string // the second host: signed storage, refuses an Authorization header
	WebURL     string // GITHUB_SERVER_URL

	options   Options
	spec      *description
	api, blob *httptest.Server
	key       []byte // signs storage URLs and runtime tokens

	mu         sync.Mutex
	offset     time.Duration
	lastID     int64
	users      map[string]*user
	tokens     map[string]*identity
	repos      map[string]*Repo
	storage    map[string]*storedBlob
	artifacts  []*Artifact
	cache      []*cacheEntry
	onRequest  watcher
	faults     []*armedFault
	requests   []Request
	violations []string
}

// New starts a server that ends with the test. A request or an answer that
// GitHub's description forbids is an error of the test.
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
	t.Cleanup(s.Close)
	return s
}

// Start starts a server outside a test; Close ends it. Violations are kept,
// see Violations.
func Start(o Options) (*Server, error) {
	spec, err := loadDescription()
	if err != nil {
		return nil, fmt.Errorf("reading the description: %w", err)
	}
	s := &Server{
		options: o.withDefaults(), spec: spec, key: []byte(rand.Text()), lastID: 1000,
		users: map[string]*user{}, tokens: map[string]*identity{}, repos: map[string]*Repo{},
		storage: map[string]*storedBlob{},
	}
	s.WebURL = s.options.WebURL
	if s.api, s.URL, err = s.listen(s.apiHandler()); err != nil {
		return nil, err
	}
	if s.blob, s.BlobURL, err = s.listen(s.blobHandler()); err != nil {
		s.api.Close()
		return nil, err
	}
	s.ResultsURL = s.URL + "/"
	s.users[actionsBot] = &user{Login: actionsBot, ID: actionsBotID, Type: "Bot"}
	return s, nil
}

func (s *Server) listen(h http.Handler) (*httptest.Server, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", fmt.Errorf("listening: %w", err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}}
	scheme := "http"
	if s.options.TLS {
		scheme = "https"
		server.StartTLS()
	} else {
		server.Start()
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return server, scheme + "://" + net.JoinHostPort(s.options.Host, port), err
}

// Close ends the server after the requests under way.
func (s *Server) Close() {
	s.api.Close()
	s.blob.Close()
}

// CertificatePEM is the certificate of a TLS server, for SSL_CERT_FILE.
func (s *Server) CertificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.api.Certificate().Raw})
}

// Advance moves the server's clock: artifacts and signed URLs expire by it.
func (s *Server) Advance(d time.Duration) {
	defer s.lock()()
	s.offset += d
}

// Violations are the requests and answers so far that the description forbids.
func (s *Server) Violations() []string {
	defer s.lock()()
	return append([]string(nil), s.violations...)
}

// violation is called with mu held.
func (s *Server) violation(format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	s.violations = append(s.violations, reason)
	s.options.Violation(reason)
}

// now is the server's time, in whole seconds as the API gives it.
func (s *Server) now() time.Time {
	return s.options.Now().Add(s.offset).UTC().Truncate(time.Second)
}

// lock holds the server's state until what it returns is called.
func (s *Server) lock() (unlock func()) {
	s.mu.Lock()
	return s.mu.Unlock
}

func (s *Server) nextID() int64 {
	s.lastID++
	return s.lastID
}
