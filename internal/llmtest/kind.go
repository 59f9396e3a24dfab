package llmtest

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// Kind is the kind of server that is imitated.
type Kind string

// The kinds of server that the product has to work with.
const (
	Strict    Kind = "strict"    // OpenAI: strict schemas, tools, both interfaces
	JSONMode  Kind = "json"      // only JSON mode, and not together with tools
	Plain     Kind = "plain"     // no tools, no response_format, alternating roles
	Azure     Kind = "azure"     // deployments in the path, the key as api-key, content filter
	Responses Kind = "responses" // a reasoning model that is served only by the Responses interface
	Slow      Kind = "slow"      // Strict that answers late
)

// Kinds lists them all.
func Kinds() []Kind { return []Kind{Strict, JSONMode, Plain, Azure, Responses, Slow} }

// Rules holds the differences between servers. The zero value accepts every well-formed request.
type Rules struct {
	Kind Kind   // the imitated kind; empty for an OpenAI that requires no key
	Key  string // required; empty accepts any

	NoSchema      bool // refuses response_format json_schema
	NoFormat      bool // refuses response_format
	NoTools       bool // refuses tools
	NoToolFormat  bool // refuses response_format together with tools
	OnlyMaxOld    bool // refuses max_completion_tokens
	OnlyMaxNew    bool // refuses max_tokens, as a gateway does in front of a reasoning model
	DeafToMaxNew  bool // ignores max_completion_tokens, as DeepSeek and Ollama do
	NoUserBehind  bool // refuses a user's turn right after a tool's, as Mistral does
	NoTemperature bool // refuses temperature, as reasoning models do
	NoEffort      bool // refuses a reasoning effort
}

// Base returns the base URL below the address: path and query.
func (k *Rules) Base() string {
	if k.Kind == Azure {
		return "/openai/deployments/review?api-version=2024-10-21"
	}
	return "/v1"
}

// The interfaces that a request can use.
const (
	Chat         = "chat"
	ResponsesAPI = "responses"
)

var deployment = regexp.MustCompile(`^/openai/deployments/[\w.-]+/chat/completions$`)

// route returns the interface of an address, or a refusal in the kind's words.
func (k *Rules) route(r *http.Request) (string, *refusal) {
	path := r.URL.Path
	through := map[string]string{"/v1/chat/completions": Chat, "/v1/responses": ResponsesAPI}[path]
	if k.Kind == Azure {
		through = map[string]string{"/openai/v1/chat/completions": Chat, "/openai/v1/responses": ResponsesAPI}[path]
		if deployment.MatchString(path) && r.URL.Query().Get("api-version") != "" {
			through = Chat
		}
	}
	open := k.Kind == JSONMode || k.Kind == Plain
	unknown := r.Method != http.MethodPost || through == "" || through == ResponsesAPI && open
	switch {
	case unknown && k.Kind == Azure:
		return "", &refusal{status: http.StatusNotFound, code: "404", message: "Resource not found"}
	case unknown:
		return "", invalid("Invalid URL: no such address: %s", path).withStatus(http.StatusNotFound)
	case through == Chat && k.Kind == Responses:
		return "", &refusal{status: http.StatusNotFound, kind: "invalid_request_error", param: "model",
			message: "This model is only supported in v1/responses and not in v1/chat/completions."}
	}
	return through, nil
}

func (k *Rules) checkKey(h http.Header) *refusal {
	bearer, key := h.Get("Authorization"), h.Get("Api-Key")
	if k.Kind == Azure {
		if bearer != "" || k.Key != "" && key != k.Key {
			return &refusal{status: http.StatusUnauthorized, code: "401",
				message: "Access denied due to invalid subscription key or wrong API endpoint."}
		}
		return nil
	}
	if k.Key != "" && bearer != "Bearer "+k.Key {
		return &refusal{status: http.StatusUnauthorized, kind: "invalid_request_error", code: "invalid_api_key",
			message: "Incorrect API key provided: " + strings.TrimPrefix(bearer, "Bearer ")}
	}
	return nil
}

// form describes how a request asks for what servers differ in.
type form struct {
	newLimit                 bool // by max_completion_tokens or max_output_tokens
	oldLimit                 bool // by max_tokens
	formatField, effortField string
}

// checkSupport returns a refusal of what a server of this kind does not accept, one thing at a time.
func (k *Rules) checkSupport(f form, r *Request) *refusal {
	formatted, tools := r.Format != "", len(r.Tools) > 0
	switch {
	case tools && k.NoTools:
		return invalid("test-model:latest does not support tools").withType("api_error")
	case formatted && k.NoFormat:
		return k.unsupported(f.formatField)
	case formatted && tools && k.NoToolFormat:
		return invalid("json mode cannot be combined with tool/function calling")
	case r.Format == "json_schema" && k.NoSchema:
		return invalid("Invalid parameter: '%s' of type 'json_schema' is not supported with this model.",
			f.formatField).withParam(f.formatField)
	case r.Format == "json_object" && k.Kind != "" && !strings.Contains(strings.ToLower(r.prompt()), "json"):
		return invalid("'messages' must contain the word 'json' in some form, to use 'response_format' of type " +
			"'json_object'.").withParam("messages")
	case f.newLimit && k.OnlyMaxOld:
		return k.unsupported("max_completion_tokens")
	case f.oldLimit && k.OnlyMaxNew:
		return invalid("Unsupported parameter: 'max_tokens' is not supported with this model. Use " +
			"'max_completion_tokens' instead.").withParam("max_tokens").withCode("unsupported_parameter")
	case r.Temperature != nil && k.NoTemperature:
		return invalid("Unsupported value: 'temperature' does not support %v with this model. Only the default (1) "+
			"value is supported.", *r.Temperature).withParam("temperature").withCode("unsupported_value")
	case r.Effort != "" && k.NoEffort:
		return k.unsupported(f.effortField)
	}
	return nil
}

// unsupported refuses a field in the words of OpenAI, or of servers with their own list of fields.
func (k *Rules) unsupported(field string) *refusal {
	if k.Kind != Plain {
		return invalid("Unrecognized request argument supplied: %s", field)
	}
	return &refusal{status: http.StatusBadRequest, bare: true, kind: "BadRequestError",
		message: fmt.Sprintf("[{'type': 'extra_forbidden', 'loc': ('body', '%s'), 'msg': 'Extra inputs are not "+
			"permitted'}]", field)}
}
