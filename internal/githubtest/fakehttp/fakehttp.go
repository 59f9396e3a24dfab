// Package fakehttp is what all requests to a fake server go through: a log, faults that strike in place of an answer, a
// watcher who may hold or end a request, and the lock of what the server knows. Beside it stand a check against a
// published description of an interface, and a storage of signed addresses.
//
// It knows nothing of GitHub's repositories. Start reading at Front.
package fakehttp

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// Request is one request as it arrived.
type Request struct {
	Host   string // api or storage
	Method string
	Path   string // decoded, without the query
	Query  url.Values
	Header http.Header
	Body   []byte
	Status int // of the answer; 0 where the connection was dropped
}

// Front is where the requests to all hosts of a server come in.
type Front struct {
	Faults
	violated func(reason string)

	mu         sync.Mutex
	onRequest  func(n int, r *http.Request, phase string)
	requests   []Request
	violations []string
}

// NewFront returns a front that tells violated, which may be nil, of what the description forbids.
func NewFront(violated func(reason string)) *Front { return &Front{violated: violated} }

// Lock holds the server's state until what it returns is called.
func (f *Front) Lock() (unlock func()) {
	f.mu.Lock()
	return f.mu.Unlock
}

// Requests are all requests so far, in order of arrival.
func (f *Front) Requests() []Request {
	return Get(f, func() []Request { return slices.Clone(f.requests) })
}

// Violations are the requests and answers so far that the description forbids.
func (f *Front) Violations() []string {
	return Get(f, func() []string { return slices.Clone(f.violations) })
}

// Violation notes something that a request or an answer should not have. It is called under Lock.
func (f *Front) Violation(format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	f.violations = append(f.violations, reason)
	if f.violated != nil {
		f.violated(reason)
	}
}

// OnRequest sets what is called for each request of any host: with its number from 1 on, in phase "before" when nothing
// has happened yet, and "after" when the server has acted and not answered. It may block, to hold the request, and end
// the client: where the request's context has ended in "before", nothing is done. A fault that answers in place of the
// server has no "after".
func (f *Front) OnRequest(watch func(n int, r *http.Request, phase string)) {
	defer f.Lock()()
	f.onRequest = watch
}

// Handler serves a host by a function that is called under Lock.
func (f *Front) Handler(host string, handle func(r *http.Request, body []byte) Answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		at, fault, watch := f.enter(host, r, body)
		watch(at+1, r, "before")
		if r.Context().Err() != nil || !fault.wait(r) {
			return // the client was ended before the server acted
		}
		if !fault.AfterWrite && f.strike(fault, w, at) {
			return
		}
		a := f.perform(at, func() Answer { return handle(r, body) })
		watch(at+1, r, "after")
		if fault.AfterWrite && f.strike(fault, w, at) {
			return
		}
		a.Write(w)
	})
}

// enter logs a request, and tells what it runs into.
func (f *Front) enter(host string, r *http.Request, body []byte) (at int, fault Fault,
	watch func(n int, r *http.Request, phase string)) {
	defer f.Lock()()
	f.requests = append(f.requests, Request{Host: host, Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(),
		Header: r.Header.Clone(), Body: body})
	if watch = f.onRequest; watch == nil {
		watch = func(int, *http.Request, string) {}
	}
	return len(f.requests) - 1, f.take(r.Method, r.URL.Path), watch
}

func (f *Front) perform(at int, handle func() Answer) Answer {
	defer f.Lock()()
	a := handle()
	f.requests[at].Status = a.Status
	return a
}

func (f *Front) strike(fault Fault, w http.ResponseWriter, at int) bool {
	if fault.DropConnection || fault.Status != 0 {
		f.perform(at, func() Answer { return Answer{Status: fault.Status} })
	}
	return fault.answer(w)
}

type locker interface{ Lock() (unlock func()) }

// Get is what a test reads of a server under its lock.
func Get[T any](from locker, read func() T) T {
	defer from.Lock()()
	return read()
}

// Do changes a server for a test, under its lock.
func Do(to locker, change func()) {
	defer to.Lock()()
	change()
}
