// Package llmtest is a model server for tests. It imitates six kinds of server: see Kind.
//
// It checks every request against the rules of the API that it serves (OpenAI's published description, July 2026),
// answers by a script, counts, bills and keeps its requests, and misbehaves on demand. It understands this product's
// prompts as a model would, by their marks and labels: which file a question is about, the numbered lines of its
// diff, and what is asked. It never judges the quality of an answer. Start reading at Server and Script; scripts to
// start from are Honest and Obedient, for a judge HonestJudge, for trouble Faulty.
package llmtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/transport"
)

// Server answers by a script. It is an http.Handler; Start puts it on a loopback address. The zero options accept
// every well-formed request, for chat completions and for the Responses interface. As sets the options of a kind.
type Server struct {
	URL string // base URL for a client; set by Start
	Rules
	meter
	Delay time.Duration // of every answer, in addition to its own
	Cuts  bool          // truncates an answer at the request's output limit
	Whole Script        // answers about changes as a whole; New sets Nothing

	script   Script
	thoughts thoughts

	mu      sync.Mutex
	asked   []Request
	refused []string
	tries   map[string]int
}

// New returns a server that is not listening yet.
func New(script Script) *Server {
	return &Server{script: script, Whole: Nothing, tries: map[string]int{},
		thoughts: thoughts{behind: map[string]thought{}}, meter: meter{prefixes: map[string]bool{}}}
}

// Start listens on a free loopback port until the test ends. Options are applied before the first request.
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
		s.forget()
	})
	s.URL = listener.URL + s.Base()
	return s
}

// forget lets go of what was asked. The testing package keeps a finished test's cleanups, and through them this server,
// until all parallel tests have ended.
func (s *Server) forget() {
	s.mu.Lock()
	s.asked = nil
	s.mu.Unlock()
}

// Requests returns the accepted requests so far, in order of arrival, without those about a whole change: Wholes has
// them.
func (s *Server) Requests() []Request { return s.accepted(false) }

// Wholes returns the requests about a change as a whole, in order of arrival; Requests has the others.
func (s *Server) Wholes() []Request { return s.accepted(true) }

// Calls returns the number of requests that Requests returns.
func (s *Server) Calls() int { return len(s.Requests()) }

// Refusals returns why requests were refused so far.
func (s *Server) Refusals() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refused...)
}

// ServeHTTP answers a POST to one of the kind's addresses, and returns 404 for all else.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, refusal := s.read(r)
	if refusal != nil {
		s.mu.Lock()
		s.refused = append(s.refused, refusal.message)
		s.mu.Unlock()
		refusal.write(w)
		return
	}
	request = s.record(request)
	script := s.script
	if request.Whole() {
		script = s.Whole
	}
	answer := s.complete(request, script(request))
	s.send(w, r, request, answer)
	s.remember(request)
}

func (s *Server) record(r Request) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	about := r.Question + " " + r.Path
	if r.Judge != "" {
		about = r.Judge
	}
	s.tries[about]++
	r.Try = s.tries[about]
	s.asked = append(s.asked, r)
	return r
}

// complete fills in what a script leaves to the server, and bills the answer, even if the client never sees it.
func (s *Server) complete(r Request, a Answer) Answer {
	a.Delay += s.Delay
	a.input, a.apart = r.tokens(), s.Apart
	a.Calls = append([]Call(nil), a.Calls...)
	for i, c := range a.Calls {
		if c.ID == "" {
			a.Calls[i].ID = r.newID("call_", fmt.Sprint(i))
		}
	}
	if s.Cuts {
		a = a.cut(r.MaxTokens)
	}
	if s.Caches && a.Cached == 0 && a.CacheWrite == 0 {
		a.Cached, a.CacheWrite = s.cached(r)
	}
	if a.ok() {
		s.charge(r, a)
	}
	return a
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, q Request, a Answer) {
	if transport.Sleep(r.Context(), a.Delay) != nil {
		return
	}
	if a.Drop {
		panic(http.ErrAbortHandler)
	}
	if a.Reset {
		reset(w)
	}
	w.Header().Set("Content-Type", "application/json")
	for name, values := range a.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	if !a.ok() && a.Raw == nil {
		invalid("%s", a.Text).withStatus(a.Status).withCode(a.Code).write(w)
		return
	}
	body := a.Raw
	if body == nil {
		body = s.reply(q, a)
	}
	if a.Half {
		body = body[:len(body)/2]
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	if a.Drip > 0 {
		drip(w, r, body, a.Drip)
		return
	}
	_, _ = w.Write(body) // a client that left does not concern the server
}

func (s *Server) reply(r Request, a Answer) []byte {
	out := s.completion(r, a)
	if r.Interface == ResponsesAPI {
		out = s.thoughts.response(r, a)
	}
	if a.NoUsage {
		delete(out, "usage")
	}
	body, _ := json.Marshal(out) // plain values: it cannot fail
	return body
}

func (s *Server) read(r *http.Request) (Request, *refusal) {
	through, refused := s.route(r)
	if refused = cmp.Or(refused, s.checkKey(r.Header)); refused != nil {
		return Request{}, refused
	}
	raw, err := io.ReadAll(r.Body)
	out := Request{Interface: through}
	if err = errors.Join(err, jsonv2.Unmarshal(raw, &out.Fields)); err != nil {
		return Request{}, invalid("We could not parse the JSON body of your request: %v", err)
	}
	if through == Chat {
		refused = s.readChat(raw, &out)
	} else {
		refused = s.readResponses(raw, &out, &s.thoughts)
	}
	if refused != nil {
		return Request{}, refused
	}
	parts := Data(out.User)
	out.Path, out.Lines, out.Repair = parseTurn(parts)
	out.Judge = judgeKey(out.User)
	out.Question = question(out, parts)
	return out, nil
}

func (s *Server) accepted(whole bool) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.asked), func(r Request) bool { return r.Whole() != whole })
}

// slowness is the delay of a Slow server: far above a loopback's, but short enough for tests in real time.
const slowness = 150 * time.Millisecond

// As returns an option of Start that sets the options of a kind.
func As(k Kind) func(*Server) {
	return func(s *Server) {
		s.Kind = k
		switch k {
		case JSONMode:
			s.NoSchema, s.NoToolFormat = true, true
		case Plain:
			s.NoFormat, s.NoTools, s.OnlyMaxOld, s.NoEffort = true, true, true, true
		case Azure:
			s.OnlyMaxOld = true // like deployments of older api-versions
		case Responses:
			s.NoTemperature = true
		case Slow:
			s.Delay = slowness
		}
	}
}
