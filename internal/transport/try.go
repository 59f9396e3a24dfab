package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
)

// BeginFunc is called before each try of a request, counted from 1, and may wait. Its error ends the request. The
// function it returns is called once, at the end of the try: with the answer, whose body may be read again, or with
// an error.
type BeginFunc = func(ctx context.Context, try int) (end func(resp *http.Response, err error), err error)

// ErrNotBegun tells the hooks that had begun that a later hook refused the try. The request's own error matches it
// too, together with that hook's error.
var ErrNotBegun = errors.New("a hook refused the request")

type hooksKey struct{}

// hooks is a linked list of hooks, the newest first.
type hooks struct {
	begin BeginFunc
	next  *hooks
}

// EachTry returns a context whose requests call begin before every try, outside the try's own timeout. Hooks nest:
// the newest begins first and ends last. If a later begin fails, the hooks that had begun are ended with its error,
// which also matches ErrNotBegun.
func EachTry(ctx context.Context, begin BeginFunc) context.Context {
	outer, _ := ctx.Value(hooksKey{}).(*hooks)
	return context.WithValue(ctx, hooksKey{}, &hooks{begin: begin, next: outer})
}

// Sent reports whether a failed try may have reached the server, and so may have been billed. It did not if there
// was no connection (refused, name not found, TLS not agreed), the address was refused, or a hook refused it.
func Sent(err error) bool {
	return !errors.As(err, new(*unsentError)) && !Refused(err) && !isUnreachable(err)
}

// Lost reports whether a try may have reached the server, and so may have been billed, but ended without the
// server's own answer: with an error for which Sent is true, or with a gateway's status for a server that gave no
// answer, or none that could be passed on, or with the 408 of a server that ended its work. 520, 522 and 524 are
// Cloudflare's; its 521, 523, 525 and 526 mean that there was no connection. A server's own 429, 500 and 503 are
// refusals.
func Lost(resp *http.Response, err error) bool {
	if err != nil {
		return Sent(err)
	}
	return slices.Contains([]int{http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout, 520, 522,
		524}, resp.StatusCode)
}

// unsentError marks the error of a try that never left this machine. refused is set if a hook refused it, so that
// the request is not tried again.
type unsentError struct {
	err     error
	refused bool
}

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

// Is matches ErrNotBegun for a hook's refusal; the text does not mention it.
func (e *unsentError) Is(target error) bool { return e.refused && target == ErrNotBegun }

// tryWithHooks makes one try between the hooks of the request's context.
func (t *retrying) tryWithHooks(req *http.Request, try int) (resp *http.Response, body []byte, err error) {
	ends, err := begin(req.Context(), try)
	if err == nil {
		resp, body, err = t.tryTraced(req)
	}
	for _, end := range slices.Backward(ends) {
		rewind(resp, body)
		end(resp, err)
	}
	rewind(resp, body)
	return resp, body, err
}

// begin calls the hooks of a context until one refuses.
func begin(ctx context.Context, try int) (ends []func(*http.Response, error), err error) {
	last, _ := ctx.Value(hooksKey{}).(*hooks)
	for h := last; h != nil; h = h.next {
		end, err := h.begin(ctx, try)
		if err != nil {
			return ends, &unsentError{err: err, refused: true}
		}
		ends = append(ends, end)
	}
	return ends, nil
}

// tryTraced marks the error of a try that never had a connection.
func (t *retrying) tryTraced(req *http.Request) (*http.Response, []byte, error) {
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	resp, body, err := t.tryOnce(req, httptrace.WithClientTrace(req.Context(), trace))
	if err != nil && !connected.Load() {
		err = &unsentError{err: err}
	}
	return resp, body, err
}

// rewind makes the body readable from its start.
func rewind(resp *http.Response, body []byte) {
	if resp != nil {
		resp.Body = io.NopCloser(bytes.NewReader(body))
	}
}
