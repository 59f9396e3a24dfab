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

// BeginFunc is called before a try of a request, the first being 1, and may wait.
// Its error ends the request. The function it returns is called once, when the
// try is over: with the answer, whose body may be read again, or with an error.
type BeginFunc = func(ctx context.Context, try int) (end func(resp *http.Response, err error), err error)

// ErrNotBegun is, to the hooks that had begun, that a later one said no. The
// request's own error holds it too, beside the one that the hook gave.
var ErrNotBegun = errors.New("a hook refused the request")

type hooksKey struct{}

// hooks is a list of hooks, the last one added at its head.
type hooks struct {
	begin BeginFunc
	next  *hooks
}

// EachTry returns a context whose requests call begin before every try, outside of the try's own timeout. Several
// hooks nest: the last one added begins first and ends last. Where a later begin fails, the hooks that had begun are
// ended with its error, which is ErrNotBegun too.
func EachTry(ctx context.Context, begin BeginFunc) context.Context {
	outer, _ := ctx.Value(hooksKey{}).(*hooks)
	return context.WithValue(ctx, hooksKey{}, &hooks{begin: begin, next: outer})
}

// Sent reports whether a try that failed may have reached the server, so that it
// may have been billed. It did not where no connection came about (refused,
// name not found, TLS not agreed), the address was refused, or a hook said no.
func Sent(err error) bool {
	return !errors.As(err, new(*unsentError)) && !Refused(err) && !unreachable(err)
}

// Lost reports whether a try ended without the server's own answer though it may have reached the server, so that it
// may have been billed: by an error of Sent's, or by a gateway's word that the server behind it gave no answer, or
// none that it could pass on. 520, 522 and 524 are Cloudflare's; its 521, 523, 525 and 526 say that no connection
// came about. A server's own 429, 500 and 503 are refusals.
func Lost(resp *http.Response, err error) bool {
	if err != nil {
		return Sent(err)
	}
	return slices.Contains([]int{http.StatusBadGateway, http.StatusGatewayTimeout, 520, 522, 524}, resp.StatusCode)
}

// unsentError marks an error of a try that never left this machine; refused
// where a hook said no, so that the request is not tried again.
type unsentError struct {
	err     error
	refused bool
}

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

// Is finds ErrNotBegun in the no of a hook, without a word of it in the text.
func (e *unsentError) Is(target error) bool { return e.refused && target == ErrNotBegun }

// hooked makes one try between the hooks of the request's context.
func (t *retrying) hooked(req *http.Request, try int) (resp *http.Response, body []byte, err error) {
	ends, err := begin(req.Context(), try)
	if err == nil {
		resp, body, err = t.traced(req)
	}
	for _, end := range slices.Backward(ends) {
		rewind(resp, body)
		end(resp, err)
	}
	rewind(resp, body)
	return resp, body, err
}

// begin calls the hooks of a context until one says no.
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

// traced marks the error of a try that never had a connection.
func (t *retrying) traced(req *http.Request) (*http.Response, []byte, error) {
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	resp, body, err := t.once(req, httptrace.WithClientTrace(req.Context(), trace))
	if err != nil && !connected.Load() {
		err = &unsentError{err: err}
	}
	return resp, body, err
}

// rewind lets the body be read from its start.
func rewind(resp *http.Response, body []byte) {
	if resp != nil {
		resp.Body = io.NopCloser(bytes.NewReader(body))
	}
}
