package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wording"
)

// send sends a request and returns the response with its body.
func (c *Client) send(ctx context.Context, a *wireRequest) (*http.Response, []byte, error) {
	written, err := c.encode(a)
	if err != nil {
		return nil, nil, fmt.Errorf("writing the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.at.url(a.form), bytes.NewReader(written))
	if err != nil {
		return nil, nil, err
	}
	c.at.authorize(req, c.key, c.settings.Headers)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

// encode returns a request's JSON: the library's type plus the fields it lacks. What all requests of a
// conversation share comes first, so that prefix caches match: the fields by name, the conversation last.
func (c *Client) encode(a *wireRequest) ([]byte, error) {
	var request any
	var turns []any
	last := "messages"
	if a.form.responses() {
		request, turns, last = c.responsesRequest(a), a.items(), "input"
	} else {
		request, turns = c.chatRequest(a), a.messages()
	}
	written, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(written, &fields) // it was just written
	for name, value := range a.fields {
		if fields[name], err = json.Marshal(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	delete(fields, last)
	front, _ := json.Marshal(fields) // JSON by name: it cannot fail
	conversation, err := json.Marshal(turns)
	return slices.Concat(front[:len(front)-1], []byte(`,"`+last+`":`), conversation, []byte("}")), err
}

// read parses a response into an answer. It returns a *StatusError, ErrPage, or ErrRefused if the server's filter
// rejected the request. The library's types do not fit: they drop fields that servers want back, and a wrong type
// in an unneeded field would lose the answer.
func (c *Client) read(a *wireRequest, resp *http.Response, body []byte) (answer Answer, err error) {
	var said envelope
	// A wrong type in one field still leaves the others read.
	_ = json.Unmarshal(body, &said)
	// OpenRouter reports a provider's error next to the choice.
	if isBlank(said.Error) && len(said.Choices) > 0 && !isBlank(said.Choices[0].Error) {
		said.Error = said.Choices[0].Error
		body, _ = json.Marshal(map[string]any{"error": said.Error}) // it was JSON
	}
	code, failed := said.failure()
	if resp.StatusCode == http.StatusOK && code != 0 {
		resp.StatusCode = code
	}
	failed = failed || resp.StatusCode/100 != 2
	answer.Usage = said.Usage.usage()
	if failed {
		if answer.Usage.Tokens() == 0 && answer.Usage.Cost == 0 {
			answer.Usage.Calls = 0 // nothing was billed
		}
		return answer, c.refusal(resp, body)
	}
	usage, read := answer.Usage, readChat
	if a.form.responses() {
		read = readResponses
	}
	if err = ErrPage; !transport.WebPage(resp) {
		answer, err = read(body, a.request.Turns)
	}
	if answer.Usage = usage; err != nil {
		return answer, fmt.Errorf("reading the answer of %s: %w", c.at.base, err)
	}
	if len(a.request.Tools) == 0 {
		answer.ToolCalls, answer.State = nil, nil // calls of tools that were not offered
	}
	if usage.OutputTokens == 0 && (answer.Text != "" || len(answer.ToolCalls) > 0) {
		answer.Usage = cost.Usage{Calls: 1, Cost: usage.Cost} // not the whole of it
	}
	answer.Text = stripThought(answer.Text)
	answer.redact(c.key)
	answer.Model, _ = wording.Clip(answer.Model, maxName)
	answer.Finish, _ = wording.Clip(answer.Finish, maxName)
	return answer, answer.unusableError()
}

// refusal returns the error of a failed response. It redacts the key before the message is cut, so that no part of
// it remains at the end, and again for a key that JSON had escaped.
func (c *Client) refusal(resp *http.Response, body []byte) error {
	resp.Body = io.NopCloser(strings.NewReader(transport.Conceal(string(body), c.key)))
	status := transport.Status(resp)
	said := transport.Conceal(refusalText(body), c.key)
	if status.Message == "" && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		status.Message = guard.Line(said, maxMessage)
	}
	status.Message = transport.Conceal(status.Message, c.key)
	failed := &StatusError{StatusError: status, words: strings.ToLower(said)}
	switch {
	case slices.Contains(refusals, status.Code) && strings.Contains(failed.words, "tool_use_failed"): // Groq's
		return fmt.Errorf("%w: %s", ErrEmpty, status.Message)
	case status.Code < http.StatusNotFound && filtered().MatchString(failed.words):
		return fmt.Errorf("%w: %s", ErrRefused, status.Message)
	}
	return failed
}

// watch makes every try of a request wait for the limiter, and logs it.
func (c *Client) watch(ctx context.Context, a *wireRequest) context.Context {
	if c.log != nil { // before the limiter, so that it begins after it: waiting is not the server's time
		ctx = transport.EachTry(ctx, c.logTry(a))
	}
	if c.limiter != nil {
		ctx = transport.EachTry(ctx, func(ctx context.Context, _ int) (func(*http.Response, error), error) {
			return c.limiter.Begin(ctx, a.request.tokens(c.settings.limit(a.request)))
		})
	}
	return ctx
}

// logTry logs a try: its address, its outcome and its duration.
func (c *Client) logTry(a *wireRequest) func(context.Context, int) (func(*http.Response, error), error) {
	_, where, _ := strings.Cut(c.at.url(a.form), "://")
	return func(_ context.Context, try int) (func(*http.Response, error), error) {
		began := time.Now()
		return func(resp *http.Response, err error) {
			if errors.Is(err, transport.ErrNotBegun) { // there was no money for it: it is not a try
				return
			}
			line := fmt.Sprintf("POST %s, try %d: %s, %d ms", where, try, outcome(resp, err),
				time.Since(began).Milliseconds())
			c.log(guard.Line(transport.Conceal(line, c.key), maxMessage))
		}, nil
	}
}

func outcome(resp *http.Response, err error) string {
	if err != nil {
		return "no answer: " + transport.Clean(err).Error()
	}
	said := fmt.Sprint(resp.StatusCode)
	h := resp.Header
	if id := cmp.Or(h.Get("X-Request-Id"), h.Get("Apim-Request-Id"), h.Get("Request-Id")); id != "" {
		said += ", request " + id
	}
	body, _ := io.ReadAll(resp.Body) // it was read before, and can be read again
	var e envelope
	_ = json.Unmarshal(body, &e) // a body that is not an answer has no usage
	if u := e.Usage.usage(); u.Tokens() > 0 {
		said += fmt.Sprintf(", %d tokens in (%d cached), %d out", u.InputTokens, u.CachedTokens, u.OutputTokens)
	}
	return said
}
