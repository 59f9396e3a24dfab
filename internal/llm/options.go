package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/limit"
)

// Options say whom to ask and how. Those after HTTP may be left out.
type Options struct {
	// BaseURL is the address up to and without /chat/completions; DefaultBaseURL
	// when empty. One with /openai/deployments/NAME in it, or of a host under
	// azure.com, is Azure's: the key goes as api-key, and its query is kept.
	BaseURL string
	Key     string       // empty for servers that want none
	Model   string       // the server's name of the model
	HTTP    *http.Client // transport.New's: proxies, retries, timeouts and the size limit are its own

	Headers     map[string]string // sent with every request
	Body        map[string]any    // further fields of every request's body, such as top_p or provider
	Effort      string            // of reasoning: none, minimal, low, medium, high, xhigh, max; empty for the model's default
	Temperature *float64          // from 0 to 2; nil for the model's default
	Seed        *int              // nil for none
	MaxTokens   int               // bounds every request's own limit of output tokens, and is it where a request has none; 0 for no bound

	Limiter *limit.Limiter // shared by all clients of one server; nil for none
	Log     func(string)   // called from many goroutines with one line about each try, safe for a log: no key, no header but the request's id, no content; nil for none
}

// names checks key and model.
func (o Options) names() (key, model string, err error) {
	key, model = strings.TrimSpace(o.Key), strings.TrimSpace(o.Model)
	switch {
	case model == "":
		return "", "", errors.New("model: no name given")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", "", errors.New("api-key: it holds a space, a line break or a character outside ASCII")
	}
	return key, model, o.checkHeaders()
}

// takenHeaders are the client's or the connection's own.
var takenHeaders = []string{
	"authorization", "proxy-authorization", "api-key", "x-api-key", "cookie", "host", "connection", "content-type", "content-length",
	"content-encoding", "transfer-encoding", "accept", "accept-encoding", "expect", "te", "trailer", "upgrade",
}

func (o Options) checkHeaders() error {
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		switch {
		case slices.Contains(takenHeaders, strings.ToLower(name)):
			return fmt.Errorf("model-options: headers: %s cannot be set there", name)
		case name == "" || strings.ContainsFunc(name, notInToken):
			return fmt.Errorf("model-options: headers: %q is no name of a header", name)
		case strings.ContainsFunc(o.Headers[name], func(r rune) bool { return r < ' ' || r > '~' }):
			return fmt.Errorf("model-options: headers: the value of %s holds a line break or a character outside ASCII", name)
		}
	}
	return nil
}

func notInToken(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && r != '-' && r != '_'
}

// takenFields are fields of a body that the client settles, that have a setting
// of their own, by which a call could cost more than was reserved for it (several
// answers, dearer tiers, searches, a server's own retries and texts), or by which
// somebody else than the model that was named would answer.
var takenFields = []string{
	"model", "models", "messages", "input", "instructions", "tools", "functions", "tool_choice", "function_call", "response_format", "text",
	"stream", "stream_options", "store", "include", "background", "previous_response_id", "conversation", "prompt",
	"temperature", "seed", "reasoning_effort",
	"max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_tokens_to_sample", "n_predict", "num_predict",
	"n", "best_of", "num_return_sequences", "candidate_count", "use_beam_search", "prediction", "modalities", "audio",
	"service_tier", "speed", "inference_geo", "num_retries", "max_retries",
	"plugins", "web_search", "web_search_options", "search_parameters", "enable_search", "mcp_servers", "data_sources", "transforms",
	"fallbacks", "context_window_fallbacks", "context_window_fallback_dict", "content_policy_fallbacks", "fallback_models", "route", "preset",
	"mock_response", "deployment_id", "custom_llm_provider", "api_base", "base_url", "api_key", "user_config", "model_list",
	"extra_body", "extra_headers", "extra_query",
}

// body checks the further fields and writes each as JSON.
func (o Options) body() (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(o.Body)) {
		if name == "" || slices.Contains(takenFields, strings.ToLower(name)) {
			return nil, fmt.Errorf("model-options: body: %q cannot be set there", name)
		}
		value, err := json.Marshal(o.Body[name])
		if err != nil {
			return nil, fmt.Errorf("model-options: body: %q is no plain value", name)
		}
		out[name] = value
	}
	return out, nil
}
