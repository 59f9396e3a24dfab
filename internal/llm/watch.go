package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/transport"
)

// watch has every try of a request wait for the limiter, and logged.
func (c *Client) watch(ctx context.Context, a *asked) context.Context {
	if c.log != nil { // before the limiter, so that it begins after it: waiting is not the server's time
		ctx = transport.EachTry(ctx, c.timed(a))
	}
	if c.limiter != nil {
		ctx = transport.EachTry(ctx, func(ctx context.Context, _ int) (func(*http.Response, error), error) {
			return c.limiter.Begin(ctx, a.request.tokens(c.settings.limit(a.request)))
		})
	}
	return ctx
}

// timed logs one try: where it went, what came of it, how long it took.
func (c *Client) timed(a *asked) func(context.Context, int) (func(*http.Response, error), error) {
	_, where, _ := strings.Cut(c.at.url(a.form), "://")
	return func(_ context.Context, try int) (func(*http.Response, error), error) {
		began := time.Now()
		return func(resp *http.Response, err error) {
			if errors.Is(err, transport.ErrNotBegun) { // there was no money for it: it is no try
				return
			}
			line := fmt.Sprintf("POST %s, try %d: %s, %d ms", where, try, outcome(resp, err),
				time.Since(began).Milliseconds())
			c.log(guard.Line(redact(line, c.key), maxMessage))
		}, nil
	}
}

func outcome(resp *http.Response, err error) string {
	if err != nil {
		return "no answer: " + transport.Clean(err).Error()
	}
	said := fmt.Sprint(resp.StatusCode)
	for _, name := range []string{"X-Request-Id", "Apim-Request-Id", "Request-Id"} {
		if id := resp.Header.Get(name); id != "" {
			said += ", request " + id
			break
		}
	}
	body, err := io.ReadAll(resp.Body) // it was read before, and can be read again
	var e envelope
	if err == nil && json.Unmarshal(body, &e) == nil && e.Usage != (reported{}) {
		u := e.Usage.usage()
		said += fmt.Sprintf(", %d tokens in (%d cached), %d out", u.InputTokens, u.CachedTokens, u.OutputTokens)
	}
	return said
}
