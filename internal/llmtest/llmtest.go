// Package llmtest is an OpenAI-compatible model server for tests.
//
// It holds every request against the rules of the chat completions API, answers
// by a script, counts and keeps what it was asked, and misbehaves on demand. It
// understands the prompts of this product as far as a model would: which file
// is asked about, which numbered lines its diff has, and what a judge is asked.
// Start reading at Server and Script; scripts to start from are Honest and
// Obedient, for a judge HonestJudge and ObedientJudge.
package llmtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Script says what a model answers. It is called from many goroutines.
type Script func(Request) Answer

// Answer is one scripted response. The zero value of every field is what an
// ordinary response has.
type Answer struct {
	Text    string        // of the assistant's message
	Refusal string        // in place of a text
	Finish  string        // finish reason; "stop" when empty
	Delay   time.Duration // before anything is sent
	Cost    float64       // usage.cost in USD, as gateways report it; left out when 0
	Cached  int           // cached input tokens

	Status int         // other than 200: an error response with Text as its message
	Header http.Header // further headers, such as Retry-After
	Raw    []byte      // the body, in place of a chat completion
	Drop   bool        // closes the connection without a response
	Drip   int         // sends this many bytes of the body and then nothing, until the client leaves
}

// Server answers chat completions by a script. It is an http.Handler; Start
// puts it on a loopback address. The zero options take every well-formed request.
type Server struct {
	URL string // base URL, /v1 included; set by Start

	Key           string // bearer token that is asked for; empty takes any
	NoSchema      bool   // refuses response_format json_schema
	NoFormat      bool   // refuses response_format
	OnlyMaxOld    bool   // refuses max_completion_tokens
	NoTemperature bool   // refuses temperature, as reasoning models do

	script Script
	mu     sync.Mutex
	asked  []Request
	tries  map[string]int
	active int
	peak   int
}

// New returns a server that is not listening yet.
func New(script Script) *Server { return &Server{script: script, tries: map[string]int{}} }

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
	s.URL = listener.URL + "/v1"
	return s
}

// Requests returns the well-formed requests so far, in the order they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.asked...)
}

// Calls is the number of well-formed requests so far.
func (s *Server) Calls() int { return len(s.Requests()) }

// Peak is the largest number of requests that were answered at one time.
func (s *Server) Peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// ServeHTTP answers POST /v1/chat/completions, and 404 for all else.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		refuse(w, http.StatusNotFound, "no such address: "+r.URL.Path)
		return
	}
	if s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key {
		refuse(w, http.StatusUnauthorized, "Incorrect API key provided: "+r.Header.Get("Authorization"))
		return
	}
	request, err := s.read(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	request = s.enter(request)
	defer s.leave()
	send(w, r, request, s.script(request))
}

func (s *Server) enter(r Request) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	about := "review " + r.Path
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

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "param": nil, "code": nil,
	}})
}
