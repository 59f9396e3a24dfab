package llm

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// The ways in which a call ends without a usable answer.
var (
	ErrRefused   = problem.Sentinel("the model refused to answer", "use another model")
	ErrTruncated = problem.Sentinel("the answer was cut off at the output limit",
		"raise model-options.max-output-tokens where it is set, or use a model that writes more")
	ErrEmpty   = problem.Sentinel("the answer was empty", "run it again, or use another model")
	ErrNotChat = problem.Sentinel("what came back is not a chat completion",
		"check base-url: it is that of an OpenAI-compatible server, and often ends in /v1")
	ErrPage = problem.Sentinel("a web page came back in place of an answer, as from a proxy or a login before base-url",
		"check base-url, and HTTPS_PROXY if there is a proxy")
	ErrNoTools = problem.Sentinel("the model takes no tools there", "use another model")
	ErrNoLimit = problem.Sentinel("the server takes no limit of the output, so that no cost cap can be held with it",
		"use another model or server, or leave out max-cost")
)

// StatusError is a failed answer. Its Code is the HTTP status, or the code in the body of a
// 200; a key of 12 characters or more is redacted in its Message.
type StatusError struct {
	*transport.StatusError

	words string // all the text of the body, in lower case
}

// Error returns the status, the address and the server's message.
func (e *StatusError) Error() string {
	s := fmt.Sprintf("the model's address answered %d (%s)", e.Code, e.URL)
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

var (
	tooLong = pattern.Lazy(`context.?(length|size|window)|(prompt|input) is too long|too many tokens` +
		"|input token count|inputs.? tokens|reduce the length|(prompt|input) length|model token limit")
	// what a filter says about a prompt: OpenAI, Azure, OpenRouter, xAI, Alibaba
	filtered = pattern.Lazy(`content_filter|invalid_prompt|cyber_policy|input was flagged|data_inspection_failed` +
		`|violates usage guidelines`)
	badKey = pattern.Lazy(`(invalid|incorrect|expired) api.?key|api.?key (is )?(not valid|invalid|expired)`)
)

// TooLong reports whether the request was longer than the model accepts.
func (e *StatusError) TooLong() bool {
	return e.Code == http.StatusRequestEntityTooLarge ||
		slices.Contains(refusals, e.Code) && tooLong().MatchString(e.words)
}

// Next tells the user what to do.
func (e *StatusError) Next() string {
	switch {
	case transport.Oversized([]byte(e.words)):
		return "the account may not ask for that much at a time; raise its limit or set model-options.max-output-tokens"
	case e.TooLong():
		return "the request is longer than what the model takes; use a model with a larger context"
	case e.Code == http.StatusPaymentRequired, e.Code < 500 && transport.OutOfFunds([]byte(e.words)):
		return "the account behind api-key has no credit or quota left"
	case e.Code == http.StatusNotFound || strings.Contains(e.words, "model_not_found"):
		return "check base-url (it often ends in /v1) and the name in model"
	case e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden || badKey().MatchString(e.words):
		return "the key in api-key is not accepted there; check it (OPENAI_API_KEY) and base-url"
	case e.Code == http.StatusTooManyRequests:
		return "wait, lower concurrency, or raise the limit of the account behind api-key"
	case e.Code >= 500:
		return "the server is failing; run again later"
	}
	return "check base-url and model"
}
