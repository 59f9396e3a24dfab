// Package llmtest is a model server for tests. It stands in for six kinds of
// server: see Kind.
//
// It holds every request against the rules of the API that it serves (OpenAI's
// published description, July 2026), answers by a script, limits rates, counts,
// bills and keeps what it was asked, and misbehaves on demand. It understands
// the prompts of this product as far as a model would, by their marks and
// labels: which file is asked about, which numbered lines its diff has, and
// what the question is. It never judges whether an answer is any good. Start
// reading at Server and Script; scripts to start from are Honest and Obedient,
// for a judge HonestJudge, for trouble Faulty.
package llmtest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/org/pr-review-action/internal/cost"
)

// Script says what a model answers. It is called from many goroutines.
type Script func(Request) Answer

// Server answers by a script. It is an http.Handler; Start puts it on a loopback
// address. The zero options take every well-formed request, for chat completions
// and for the Responses interface. As sets the options of a kind.
type Server struct {
	URL string // base URL as a client is given it; set by Start

	Kind  Kind          // what it stands in for; empty for an OpenAI that is asked for no key
	Key   string        // that is asked for; empty takes any
	Delay time.Duration // of every answer, besides its own

	NoSchema      bool // refuses response_format json_schema
	NoFormat      bool // refuses response_format
	NoTools       bool // refuses tools
	NoToolFormat  bool // refuses response_format beside tools
	OnlyMaxOld    bool // refuses max_completion_tokens
	NoTemperature bool // refuses temperature, as reasoning models do
	NoEffort      bool // refuses a reasoning effort

	PerMinute int         // requests that are let in; 0 for all
	Caches    bool        // reports cached tokens by common prefixes
	Cuts      bool        // ends an answer at the request's output limit
	Price     *cost.Price // what it bills at; nil for nothing

	Whole Script // answers about changes as a whole; nil for Nothing

	script    Script
	mu        sync.Mutex
	asked     []Request
	refused   []string
	tries     map[string]int
	active    int
	peak      int
	limited   int
	bucket    *rate.Limiter
	bill      cost.Usage
	wholeBill cost.Usage
	cache     []string
	thoughts  map[string]thought
}

// New returns a server that is not listening yet.
func New(script Script) *Server {
	return &Server{script: script, tries: map[string]int{}, thoughts: map[string]thought{}}
}

// Start listens on a free loopback port until the test ends. Options are set
// before the first request can come.
func Start(t testing.TB, script Script, options ...func(*Server)) *Server {
	t.Helper()
	s := New(script)
	for _, set := range options {
		set(s)
	}
	listener := httptest.NewServer(s)
	t.Cleanup(func() {
		listener.CloseClientConnections()
		listener.Close()
	})
	s.URL = listener.URL + s.Base()
	return s
}

// Requests returns the well-formed requests that were let in so far, in the
// order they came, but for those about a whole change: Wholes has them.
func (s *Server) Requests() []Request {
	return s.kept(func(r Request) bool { return !r.Whole() })
}

// Calls is the number of requests that Requests returns.
func (s *Server) Calls() int { return len(s.Requests()) }

// Refusals returns why requests were refused so far, rate limits left out.
func (s *Server) Refusals() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refused...)
}

// Limited is the number of requests that a rate limit turned away.
func (s *Server) Limited() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limited
}

// Peak is the largest number of requests that were answered at one time.
func (s *Server) Peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// ServeHTTP answers a POST to one of the kind's addresses, and 404 for all else.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, refusal := s.read(r)
	if refusal != nil {
		s.note(refusal)
		refusal.write(w)
		return
	}
	if refusal := s.admit(request); refusal != nil {
		refusal.write(w)
		return
	}
	request = s.enter(request)
	defer s.leave()
	script := s.script
	switch {
	case request.Whole() && s.Whole != nil:
		script = s.Whole
	case request.Whole():
		script = Nothing
	}
	answer := s.settle(request, script(request))
	s.send(w, r, request, answer)
	s.remember(request)
}

func (s *Server) note(r *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, r.message)
}

func (s *Server) enter(r Request) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	about := r.Question + " " + r.Path
	if r.Judge != "" {
		about = r.Judge
	}
	s.tries[about]++
	r.Try = s.tries[about]
	s.asked = append(s.asked, r)
	s.active++
	s.peak = max(s.peak, s.active)
	return r
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
}
