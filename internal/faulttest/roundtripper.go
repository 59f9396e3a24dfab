package faulttest

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// RoundTripper sends requests through another, and lets faults befall the n-th,
// counted from 1. Requests may run side by side.
type RoundTripper struct {
	base http.RoundTripper

	mu     sync.Mutex
	count  int
	faults map[int]Fault
	dead   int // the first request of which nothing is sent any more, 0 for none
}

// Send is the rest of the way: it sends a request and brings the answer.
type Send func(*http.Request) (*http.Response, error)

// Fault is what befalls a request. Where it does not send, it leaves the body
// alone: that is closed anyhow.
type Fault func(r *http.Request, send Send) (*http.Response, error)

// NewRoundTripper returns one without faults.
func NewRoundTripper(base http.RoundTripper) *RoundTripper {
	return &RoundTripper{base: base, faults: map[int]Fault{}}
}

// At lets a fault befall the n-th request.
func (t *RoundTripper) At(n int, f Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults[n] = f
}

// Kill lets a fault befall the n-th request, Drop or After(Drop), and drops all
// that follow: the process is dead, before or after the server acted.
func (t *RoundTripper) Kill(n int, f Fault) {
	t.At(n, f)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dead = n + 1
}

// Count is how many requests there were, dropped ones too.
func (t *RoundTripper) Count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// RoundTrip counts the request and sends it as its fault says.
func (t *RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }() // what was sent has closed it already
	}
	if f := t.next(); f != nil {
		return f(r, t.base.RoundTrip)
	}
	return t.base.RoundTrip(r)
}

func (t *RoundTripper) next() Fault {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	if t.dead > 0 && t.count >= t.dead {
		return Drop
	}
	return t.faults[t.count]
}

// Drop resets the connection before anything is sent.
func Drop(*http.Request, Send) (*http.Response, error) {
	return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
}

// After sends the request, throws the answer away, and then lets the fault
// befall it: the server has acted, and the client does not learn of it.
func After(f Fault) Fault {
	return func(r *http.Request, send Send) (*http.Response, error) {
		if answer, err := send(r); err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
		return f(r, send)
	}
}

// Answer answers in the server's place.
func Answer(status int, header http.Header, body string) Fault {
	return func(r *http.Request, _ Send) (*http.Response, error) {
		h := http.Header{"Content-Length": {strconv.Itoa(len(body))}}
		for name, values := range header {
			h[http.CanonicalHeaderKey(name)] = values
		}
		return &http.Response{
			Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status, Header: h, Request: r,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		}, nil
	}
}

// Delay waits on the test's clock before it sends.
func Delay(d time.Duration, sleep func(context.Context, time.Duration) error) Fault {
	return func(r *http.Request, send Send) (*http.Response, error) {
		if err := sleep(r.Context(), d); err != nil {
			return nil, err
		}
		return send(r)
	}
}

// Truncate ends the answer's body after n bytes, as a connection that breaks.
func Truncate(n int64) Fault {
	return func(r *http.Request, send Send) (*http.Response, error) {
		answer, err := send(r)
		if err == nil {
			answer.Body = torn{io.LimitReader(answer.Body, n), answer.Body}
		}
		return answer, err
	}
}

type torn struct {
	io.Reader
	io.Closer
}

func (t torn) Read(b []byte) (int, error) {
	n, err := t.Reader.Read(b)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Repeat sends the request twice, as a proxy may, and brings the second answer.
func Repeat(r *http.Request, send Send) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	whole := func(r *http.Request, send Send) (*http.Response, error) {
		c := r.Clone(r.Context())
		if r.Body != nil {
			c.Body = io.NopCloser(bytes.NewReader(body))
		}
		return send(c)
	}
	return After(whole)(r, func(r *http.Request) (*http.Response, error) { return whole(r, send) })
}
