package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/transport"
)

// exchange is one request and its answer: it adds to the request what the
// library's types have no place for, tells answers that say no, and keeps the
// answer, which the library's types do not fit: they drop fields that servers want
// back, and a wrong type in one nobody needs would lose it.
type exchange struct {
	client   *Client
	asked    *asked
	answered bool
	body     []byte
	usage    cost.Usage
}

// send sends the request. A response that is no answer is a *StatusError, ErrPage, or
// ErrRefused where a filter of the server's turned the request away.
func (e *exchange) send(ctx context.Context) error {
	req, err := e.request(ctx)
	if err != nil {
		return fmt.Errorf("writing the request: %w", err)
	}
	resp, err := e.client.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var said envelope
	// A wrong type in one field leaves the others read.
	_ = json.Unmarshal(body, &said)
	code, failed := said.failure()
	if resp.StatusCode == http.StatusOK && code != 0 {
		resp.StatusCode = code
	}
	if said.Usage != (reported{}) || !failed && resp.StatusCode/100 == 2 {
		e.usage = said.Usage.usage()
	}
	if failed || resp.StatusCode/100 != 2 {
		return e.refusal(resp, body)
	}
	if transport.WebPage(resp) {
		return ErrPage
	}
	e.answered, e.body = true, body
	return nil
}

// request writes the request. What is the same in every request of a conversation
// comes first, so that caches of prefixes see it.
func (e *exchange) request(ctx context.Context) (*http.Request, error) {
	var request any
	if e.asked.form.responses() {
		request = e.client.responsesRequest(e.asked)
	} else {
		request = e.client.chatRequest(e.asked)
	}
	written, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(written, &fields); err != nil {
		return nil, err
	}
	for name, value := range e.asked.fields {
		if fields[name], err = json.Marshal(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	body, err := e.asked.ordered(fields)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.client.at.url(e.asked.form), bytes.NewReader(body))
	if err == nil {
		e.client.at.authorize(req, e.client.key, e.client.settings.Headers)
	}
	return req, err
}

// ordered writes the fields by name, the conversation last.
func (a *asked) ordered(fields map[string]json.RawMessage) ([]byte, error) {
	last := "messages"
	if a.form.responses() {
		last = "input"
	}
	turns, err := a.conversation(fields[last])
	if err != nil {
		return nil, err
	}
	delete(fields, last)
	front, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return slices.Concat(front[:len(front)-1], []byte(`,"`+last+`":`), turns, []byte("}")), nil
}

// conversation gives the messages back what came with them, and marks for the cache.
func (a *asked) conversation(turns json.RawMessage) (json.RawMessage, error) {
	if len(a.states) == 0 && !a.carries[marks] {
		return turns, nil
	}
	var messages []json.RawMessage
	if err := json.Unmarshal(turns, &messages); err != nil {
		return nil, err
	}
	for place, state := range a.states {
		var t thought
		var message map[string]any
		if json.Unmarshal(state, &t) != nil || json.Unmarshal(messages[place], &message) != nil {
			continue // no state of ours
		}
		t.into(message)
		messages[place], _ = json.Marshal(message) // plain values: it cannot fail
	}
	if a.carries[marks] {
		a.marked(messages)
	}
	return json.Marshal(messages)
}

func (t thought) into(message map[string]any) {
	if t.Content != nil {
		message["reasoning_content"] = t.Content
	}
	if t.Details != nil {
		message["reasoning_details"] = t.Details
	}
	calls, _ := message["tool_calls"].([]any)
	for _, c := range calls {
		call, _ := c.(map[string]any)
		id, _ := call["id"].(string)
		if extra := t.Extra[id]; extra != nil {
			call["extra_content"] = extra
		}
	}
}

// refusal takes the key out before the message is cut, so that no part of it is
// left at the end, and once more where JSON had it escaped.
func (e *exchange) refusal(resp *http.Response, body []byte) error {
	key := e.client.key
	resp.Body = io.NopCloser(strings.NewReader(redact(string(body), key)))
	status := transport.Status(resp)
	said := redact(words(body), key)
	if status.Message == "" && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		status.Message = guard.Line(said, maxMessage)
	}
	status.Message = redact(status.Message, key)
	failed := &StatusError{StatusError: status, words: strings.ToLower(said)}
	if status.Code == http.StatusBadRequest && strings.Contains(failed.words, "content_filter") {
		return fmt.Errorf("%w: %s", ErrRefused, status.Message)
	}
	return failed
}

// read makes an answer of what came back.
func (e *exchange) read() (Answer, error) {
	read := readChat
	if e.asked.form.responses() {
		read = readResponses
	}
	answer, err := read(e.body, e.asked.request.Turns)
	answer.Usage = e.usage
	if err != nil {
		return answer, fmt.Errorf("reading the answer of %s: %w", e.client.at.base, err)
	}
	if len(e.asked.request.Tools) == 0 {
		answer.ToolCalls, answer.State = nil, nil // calls of tools that nobody offered
	}
	answer.Text = spoken(answer.Text)
	answer.redact(e.client.key)
	answer.cut()
	return answer, answer.verdict()
}
