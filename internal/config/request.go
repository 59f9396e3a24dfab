package config

import (
	"fmt"
	"slices"
	"strings"
)

// takenHeaders are the client's or the connection's own.
var takenHeaders = []string{
	"authorization", "proxy-authorization", "api-key", "x-api-key", "cookie", "host", "connection", "content-type",
	"content-length",
	"content-encoding", "transfer-encoding", "accept", "accept-encoding", "expect", "te", "trailer", "upgrade",
}

// CheckHeaderName refuses the name of a further header of model-options that is no
// name, or one of the client's own.
func CheckHeaderName(name string) error {
	switch {
	case slices.Contains(takenHeaders, strings.ToLower(name)):
		return fmt.Errorf("model-options: headers: %s cannot be set there", name)
	case name == "" || strings.ContainsFunc(name, notInToken):
		return fmt.Errorf("model-options: headers: %.60q is no name of a header", name)
	}
	return nil
}

// CheckHeaderValue refuses a header's value that cannot be sent. The error does not
// hold the value, which may be a credential.
func CheckHeaderValue(name, value string) error {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("model-options: headers: the value of %.60s holds a line break or a character outside ASCII",
			name)
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
	"model", "models", "messages", "input", "instructions", "tools", "functions", "tool_choice", "function_call",
	"response_format", "text",
	"stream", "stream_options", "store", "include", "background", "previous_response_id", "conversation", "prompt",
	"temperature", "seed", "reasoning_effort",
	"max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_tokens_to_sample", "n_predict",
	"num_predict",
	"n", "best_of", "num_return_sequences", "candidate_count", "use_beam_search", "prediction", "modalities", "audio",
	"service_tier", "speed", "inference_geo", "num_retries", "max_retries",
	"plugins", "web_search", "web_search_options", "search_parameters", "enable_search", "mcp_servers", "data_sources",
	"transforms",
	"fallbacks", "context_window_fallbacks", "context_window_fallback_dict", "content_policy_fallbacks",
	"fallback_models", "route", "preset",
	"mock_response", "deployment_id", "custom_llm_provider", "api_base", "base_url", "api_key", "user_config",
	"model_list",
	"extra_body", "extra_headers", "extra_query",
}

// CheckField refuses a further field of model-options that the request has no room for.
func CheckField(name string) error {
	if name == "" || slices.Contains(takenFields, strings.ToLower(name)) {
		return fmt.Errorf("model-options: body: %.60q cannot be set there", name)
	}
	return nil
}
