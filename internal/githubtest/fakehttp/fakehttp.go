// Package fakehttp is what all requests to a fake server pass through: a log, faults that replace an answer, a
// watcher that may hold or end a request, and the lock of the server's state. It also has a check against a published
// description of an interface, and a storage of signed addresses.
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
	Status int // of the answer; 0 if the connection was dropped
}

// Front receives the requests to all hosts of a server.
type Front struct {
	Faults
	violated func(reason string) // receives what the description forbids; may be nil

	mu         sync.Mutex
	onRequest  func(n int, r *http.Request, phase string)
	requests   []Request
	violations []string
}

// Lock locks the server's state until unlock is called.
func (f *Front) Lock() (unlock func()) {
	f.mu.Lock()
	return f.mu.Unlock
}

// Requests returns all requests so far, in order of arrival.
func (f *Front) Requests() []Request {
	return Get(f, func() []Request { return slices.Clone(f.requests) })
}

// Violations returns the requests and answers so far that the description forbids.
func (f *Front) Violations() []string {
	return Get(f, func() []string { return slices.Clone(f.violations) })
}

// Violation records something that a request or an answer should not have. The caller holds the lock.
func (f *Front) Violation(format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	f.violations = append(f.violations, reason)
	if f.violated != nil {
		f.violated(reason)
	}
}

// OnRequest sets a function that is called for each request to any host, with its number from 1 on: in phase "before"
// when nothing has happened yet, and in phase "after" when the server has acted but not answered. It may block, to
// hold the request, and end the client: if the request's context has ended in "before", the server does nothing. A
// fault that answers in place of the server has no "after".
func (f *Front) OnRequest(watch func(n int, r *http.Request, phase string)) {
	defer f.Lock()()
	f.onRequest = watch
}

// Handler serves a host with a function that is called under the lock.
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

// enter logs a request, and returns its fault and watcher.
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

// Get reads from a server under its lock, for a test.
func Get[T any](from locker, read func() T) T {
	defer from.Lock()()
	return read()
}

// Do changes a server under its lock, for a test.
func Do(to locker, change func()) {
	defer to.Lock()()
	change()
}
