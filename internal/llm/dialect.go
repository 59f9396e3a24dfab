package llm

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// form is how a request asks for its answer's shape and length. The zero form
// is tried first; every refusal leads to the next plainer one.
type form struct {
	format   int // 0 json_schema, 1 json_object, 2 nothing
	limit    int // 0 max_completion_tokens, 1 max_tokens, 2 nothing
	sampling int // 0 temperature where asked for, 1 nothing
}

const plainest = 2

// coldest stands for temperature 0, which the library leaves out and some
// servers refuse. Smaller values overflow in servers that divide by them.
const coldest = 1e-6

func (f form) apply(out *openai.ChatCompletionRequest, r Request) {
	if f.tempers(r) {
		out.Temperature = coldest
	}
	switch f.limit {
	case 0:
		out.MaxCompletionTokens = r.MaxTokens
	case 1:
		//lint:ignore SA1019 older servers know no other
		out.MaxTokens = r.MaxTokens
	}
	if r.Schema == nil || f.format == plainest {
		return
	}
	out.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	if f.format == 0 {
		out.ResponseFormat.Type = openai.ChatCompletionResponseFormatTypeJSONSchema
		out.ResponseFormat.JSONSchema = &openai.ChatCompletionResponseFormatJSONSchema{
			Name: r.SchemaName, Schema: r.Schema, Strict: true,
		}
	}
}

// tempers reports whether a request carries a temperature in this form.
func (f form) tempers(r Request) bool { return r.Deterministic && f.sampling == 0 }

// dialect remembers the form that a server takes.
type dialect struct {
	mu   sync.Mutex
	form form
}

func (d *dialect) now() form {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.form
}

// learn reports whether a request that was refused in the form tried is worth
// another try, because a plainer form is known by now.
func (d *dialect) learn(tried form, r Request, refusal error) bool {
	next := plainer(tried, r, refusal)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.form.format = max(d.form.format, next.format)
	d.form.limit = max(d.form.limit, next.limit)
	d.form.sampling = max(d.form.sampling, next.sampling)
	return next != tried
}

func plainer(f form, r Request, refusal error) form {
	switch {
	case f.tempers(r) && refusesTemperature(refusal): // first: it is the least to lose
		f.sampling++
	case f.format < plainest && mentions(refusal, "response_format", "json_schema", "json_object", "structured output"):
		f.format++
	case f.limit < plainest && mentions(refusal, "max_completion_tokens", "max_tokens"):
		f.limit++
	}
	return f
}

// refusesTemperature reports whether the server, or the library in its place,
// takes no temperature for this model. Reasoning models take none.
func refusesTemperature(refusal error) bool {
	return errors.Is(refusal, openai.ErrReasoningModelLimitationsOther) ||
		errors.Is(refusal, openai.ErrReasoningSamplingUnsupported) || mentions(refusal, "temperature")
}

// mentions reports whether a server's refusal of a request names one of the words.
func mentions(refusal error, words ...string) bool {
	e, ok := errors.AsType[*StatusError](refusal)
	if !ok || e.Code != http.StatusBadRequest && e.Code != http.StatusUnprocessableEntity {
		return false
	}
	message := strings.ToLower(e.Message)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(message, w) })
}
