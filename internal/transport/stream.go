package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// stream makes one try, whose answer is read by the caller.
func (t *retrying) stream(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), t.options.Timeout)
	sent := req.Clone(ctx)
	if t.options.UserAgent != "" {
		sent.Header.Set("User-Agent", t.options.UserAgent)
	}
	resp, err := t.base.RoundTrip(sent)
	if err != nil {
		defer cancel()
		return nil, t.timedOut(req, ctx, err)
	}
	resp.Request = req
	limit := t.limit(req)
	resp.Body = &streamed{ReadCloser: resp.Body, left: limit, limit: limit, done: cancel}
	return resp, nil
}

// streamed is the body of an answer under way, up to a limit.
type streamed struct {
	io.ReadCloser
	left, limit int64
	done        context.CancelFunc
}

// Read fails with ErrTooLarge beyond the limit.
func (s *streamed) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if s.left -= int64(n); s.left < 0 {
		return 0, fmt.Errorf("%w: the limit is %d bytes", ErrTooLarge, s.limit)
	}
	return n, err
}

// Close ends the request.
func (s *streamed) Close() error {
	defer s.done()
	return s.ReadCloser.Close()
}
