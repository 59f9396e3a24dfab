package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Request is one request as it arrived.
type Request struct {
	Host   string // api or storage
	Method string
	Path   string // decoded, without the query
	Query  url.Values
	Token  string // none, bad, user:<login>, app or runtime
	Header http.Header
	Body   []byte
	Status int // of the answer; 0 where the connection was dropped
}

// Requests are all requests so far, in order of arrival.
func (s *Server) Requests() []Request {
	defer s.lock()()
	return slices.Clone(s.requests)
}

// watcher is what OnRequest sets.
type watcher func(n int, r *http.Request, phase string)

func (w watcher) call(n int, r *http.Request, phase string) {
	if w != nil {
		w(n, r, phase)
	}
}

// OnRequest sets what is called for each request of any host: with its number
// from 1 on, in phase "before" when nothing has happened yet, and "after" when
// the server has acted and not answered. It may block, to hold the request, and
// end the client: where the request's context has ended in "before", nothing is
// done. A fault that answers in place of the server has no "after".
func (s *Server) OnRequest(f func(n int, r *http.Request, phase string)) {
	defer s.lock()()
	s.onRequest = f
}

// call is a request on its way through a handler.
type call struct {
	*http.Request
	s    *Server
	who  *identity
	repo *Repo
	body []byte
}

// answer is what a handler says. A nil value is an empty body.
type answer struct {
	status int
	value  any    // JSON
	raw    []byte // in place of JSON, of type kind
	kind   string
	header http.Header
}

// read decodes a body that the description has let through.
func (c *call) read(q any) {
	if err := json.Unmarshal(c.body, q); err != nil && len(c.body) > 0 {
		c.s.violation("body of %s %s: %v", c.Method, c.URL.Path, err)
	}
}

func ok(v any) answer { return answer{status: http.StatusOK, value: v} }

// refusal is GitHub's error document.
func refusal(status int, message string, errors ...any) answer {
	v := object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}
	if len(errors) > 0 {
		v["errors"] = errors
	}
	return answer{status: status, value: v}
}

func notFound() answer { return refusal(http.StatusNotFound, "Not Found") }

// exchange is what all requests go through: the log, the faults, the lock, the
// handler and the writing.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request, host string, handle func(*call) answer) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	who := s.identify(r)
	at := len(s.requests)
	s.requests = append(s.requests, Request{Host: host, Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(),
		Token: who.name(), Header: r.Header.Clone(), Body: body})
	fault := s.takeFault(r.Method, r.URL.Path)
	watch := s.onRequest
	s.mu.Unlock()

	watch.call(at+1, r, "before")
	if r.Context().Err() != nil {
		return // the client was ended before the server acted
	}
	if fault != nil && !fault.wait(r) {
		return
	}
	if fault != nil && !fault.AfterWrite && s.strike(fault, w, at) {
		return
	}
	a := s.perform(at, func() answer { return handle(&call{Request: r, s: s, who: who, body: body}) })
	watch.call(at+1, r, "after")
	if fault != nil && fault.AfterWrite && s.strike(fault, w, at) {
		return
	}
	a.write(w)
}

// perform runs a handler under the lock and notes its status.
func (s *Server) perform(at int, handle func() answer) answer {
	defer s.lock()()
	a := handle()
	s.requests[at].Status = a.status
	return a
}

// strike lets a fault answer and reports whether it did.
func (s *Server) strike(f *Fault, w http.ResponseWriter, at int) bool {
	if f.Status != 0 || f.DropConnection {
		s.perform(at, func() answer { return answer{status: f.Status} })
	}
	return f.answer(w)
}

func (a answer) write(w http.ResponseWriter) {
	for k, v := range a.header {
		w.Header()[k] = v
	}
	body := a.raw
	if a.value != nil {
		body = encode(a.value)
		a.kind = or(a.kind, "application/json; charset=utf-8")
	}
	if a.kind != "" {
		w.Header().Set("Content-Type", a.kind)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // the client may have gone
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("githubtest: encoding an answer: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// serve answers one REST operation: limit, access and scope first, as GitHub
// does, then the description, then the handler.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, rt route) {
	s.exchange(w, r, "api", func(c *call) answer {
		a, stop := c.admit(rt)
		if stop {
			return a.with(c.headers())
		}
		vars := map[string]string{}
		for _, m := range parameter.FindAllStringSubmatch(rt.path, -1) {
			vars[m[1]] = r.PathValue(m[1])
		}
		in, err := s.spec.input(r, rt.path, vars)
		if err == nil {
			err = checkRequest(r.Context(), in, c.body)
		}
		if err != nil {
			s.violation("request %s %s: %v", r.Method, r.URL.Path, err)
			return refusal(http.StatusUnprocessableEntity, "Invalid request.\n\n"+firstLine(err)).with(c.headers())
		}
		a = rt.handle(c)
		if a.value != nil {
			a.value = complete(in, a.status, a.value)
			h := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
			if err := checkAnswer(r.Context(), in, a.status, h, encode(a.value)); err != nil {
				s.violation("answer %d to %s %s: %v", a.status, r.Method, r.URL.Path, err)
			}
		}
		return a.with(c.headers())
	})
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func (a answer) with(more http.Header) answer {
	if a.header == nil {
		a.header = http.Header{}
	}
	for k, v := range more {
		a.header[k] = v
	}
	return a
}

// page cuts a list to what per_page and page ask for, of at most limit items
// in all (0: no limit), and makes the Link header.
func page[T any](c *call, items []T, limit int) ([]T, http.Header) {
	if limit > 0 && len(items) > limit {
		items = items[:limit]
	}
	q := c.URL.Query()
	per, n := number(q.Get("per_page")), max(number(q.Get("page")), 1)
	if per <= 0 {
		per = 30
	}
	per = min(per, 100)
	last := max((len(items)+per-1)/per, 1)
	var links []string
	link := func(rel string, to int) {
		q.Set("page", strconv.Itoa(to))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, c.s.URL, c.URL.EscapedPath(), q.Encode(), rel))
	}
	if n > 1 {
		link("prev", n-1)
	}
	if n < last {
		link("next", n+1)
		link("last", last)
	}
	if n > 1 {
		link("first", 1)
	}
	h := http.Header{}
	if links != nil {
		h.Set("Link", strings.Join(links, ", "))
	}
	return items[min((n-1)*per, len(items)):min(n*per, len(items))], h
}

// list maps a list to JSON.
func list[T any](items []T, f func(T) object) []object {
	out := make([]object, 0, len(items))
	for _, i := range items {
		out = append(out, f(i))
	}
	return out
}

// paged answers a page of a list.
func paged[T any](c *call, items []T, limit int, f func(T) object) answer {
	items, h := page(c, items, limit)
	return ok(list(items, f)).with(h)
}
