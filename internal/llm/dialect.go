package llm

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// form is how a request asks for its answer's shape and length. The zero form
// is tried first; every refusal leads to the next plainer one.
type form struct {
	format int // 0 json_schema, 1 json_object, 2 nothing
	limit  int // 0 max_completion_tokens, 1 max_tokens, 2 nothing
}

const plainest = 2

func (f form) apply(out *openai.ChatCompletionRequest, r Request) {
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
func (d *dialect) learn(tried form, e *StatusError) bool {
	next := plainer(tried, e)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.form.format = max(d.form.format, next.format)
	d.form.limit = max(d.form.limit, next.limit)
	return next != tried
}

func plainer(f form, e *StatusError) form {
	if e.Code != http.StatusBadRequest && e.Code != http.StatusUnprocessableEntity {
		return f
	}
	message := strings.ToLower(e.Message)
	mentions := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(message, w) })
	}
	switch {
	case f.format < plainest && mentions("response_format", "json_schema", "json_object", "structured output"):
		f.format++
	case f.limit < plainest && mentions("max_completion_tokens", "max_tokens"):
		f.limit++
	}
	return f
}
