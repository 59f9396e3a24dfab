package llmtest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// chatFields are the fields of a request for a chat completion
// (CreateChatCompletionRequest of OpenAI's published description).
var chatFields = strings.Fields(`audio frequency_penalty function_call functions logit_bias logprobs
	max_completion_tokens max_tokens messages
	metadata modalities model moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key
	prompt_cache_options
	prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream
	stream_options
	temperature tool_choice tools top_logprobs top_p user verbosity web_search_options`)

var efforts = []string{"", "none", "minimal", "low", "medium", "high", "xhigh", "max"}

const maxTools = 128

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

type chatFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Strict      bool            `json:"strict"`
}

func (k *Rules) readChat(b body, out *Request) *refusal {
	var (
		messages []chatMessage
		offered  []chatTool
		format   chatFormat
		f        = form{formatField: "response_format", effortField: "reasoning_effort", deployed: k.Kind == Azure}
	)
	refused := first(
		b.only(chatFields),
		b.common(out, &f),
		b.into("messages", &messages),
		b.into("tools", &offered),
		b.into("response_format", &format),
		b.into("max_tokens", &f.maxOld),
		b.into("max_completion_tokens", &f.maxNew),
		b.into("seed", &f.seed),
		b.into("reasoning_effort", &f.effort),
	)
	if refused == nil {
		refused = first(k.readMessages(messages, out), b.readTools(offered, out), format.read(out), f.check(out))
	}
	if refused != nil {
		return refused
	}
	return k.refuses(f, out)
}

// common reads what both interfaces have.
func (b body) common(out *Request, f *form) *refusal {
	var stream bool
	refused := first(b.into("model", &out.Model), b.into("stream", &stream), b.into("temperature", &f.temperature))
	switch {
	case refused != nil:
		return refused
	case out.Model == "" && !f.deployed:
		return invalid("you must provide a model parameter")
	case stream:
		return invalid("this server does not stream").at("stream")
	case f.temperature != nil && (*f.temperature < 0 || *f.temperature > 2):
		return invalid("Invalid 'temperature': expected a number from 0 to 2.").at("temperature")
	case b["tools"] == nil && (b["tool_choice"] != nil || b["parallel_tool_calls"] != nil):
		return invalid("'tool_choice' and 'parallel_tool_calls' are only allowed when 'tools' are specified.")
	}
	return nil
}

// check takes over what is settled of a form.
func (f *form) check(out *Request) *refusal {
	if f.maxOld != nil && f.maxNew != nil {
		return invalid("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	}
	for _, limit := range []*int{f.maxOld, f.maxNew} {
		if limit != nil {
			out.MaxTokens = *limit
		}
	}
	if !slices.Contains(efforts, f.effort) {
		return invalid("Invalid value: '%s'. Supported values are: '%s'.", f.effort,
			strings.Join(efforts[1:], "', '")).at(f.effortField)
	}
	out.Temperature, out.Effort = f.temperature, f.effort
	return nil
}

func (f chatFormat) read(out *Request) *refusal {
	switch {
	case f.Type == "" || f.Type == "text":
		return nil
	case f.Type == "json_object" && f.JSONSchema == nil:
		out.Format = f.Type
		return nil
	case f.Type != "json_schema" || f.JSONSchema == nil:
		return invalid("invalid response_format %q", f.Type).at("response_format")
	}
	return f.JSONSchema.read(out, "response_format")
}

func (j jsonSchema) read(out *Request, param string) *refusal {
	switch {
	case !toolName.MatchString(j.Name):
		return invalid("Invalid '%s.name': %q", param, j.Name).at(param)
	case !j.Strict:
		return invalid("'%s': strict is expected of this product", param).at(param)
	}
	if err := checkSchema(j.Schema); err != nil {
		return invalid("Invalid schema for response_format '%s': %v", j.Name, err).at(param)
	}
	out.Format, out.Schema = "json_schema", j.Schema
	return nil
}

func (b body) readTools(offered []chatTool, out *Request) *refusal {
	if b["tools"] != nil && len(offered) == 0 {
		return invalid("Invalid 'tools': empty array. Expected an array with minimum length 1.").at("tools")
	}
	for _, tool := range offered {
		if tool.Type != "function" {
			return invalid("Invalid value: '%s'. Supported values are: 'function'.", tool.Type).at("tools")
		}
		if refused := tool.Function.read(out); refused != nil {
			return refused
		}
	}
	return nil
}

func (f function) read(out *Request) *refusal {
	switch {
	case !toolName.MatchString(f.Name):
		return invalid("Invalid function name '%s': expected a string that matches '%s'.", f.Name, toolName).at("tools")
	case slices.ContainsFunc(out.Tools, func(t Tool) bool { return t.Name == f.Name }):
		return invalid("Function names must be unique: '%s'.", f.Name).at("tools")
	case len(out.Tools) == maxTools:
		return invalid("Invalid 'tools': array too long. Expected a maximum length of %d.", maxTools).at("tools")
	}
	if err := checkSchema(f.Parameters); err != nil {
		return invalid("Invalid schema for function '%s': %v", f.Name, err).at("tools")
	}
	out.Tools = append(out.Tools, Tool{f.Name, f.Description, f.Parameters})
	return nil
}

// completion is a chat completion around an answer.
func (k *Rules) completion(r Request, a Answer) object {
	message := object{"role": "assistant", "content": a.Text, "refusal": nil}
	finish := cmp.Or(a.Finish, map[bool]string{true: "tool_calls", false: "stop"}[len(a.Calls) > 0])
	if a.Refusal != "" {
		message["content"], message["refusal"] = nil, a.Refusal
	}
	if a.Thought != "" {
		message["reasoning_content"] = a.Thought
	}
	if len(a.Calls) > 0 {
		message["tool_calls"] = each(a.Calls, func(c Call) object {
			return object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}}
		})
		if a.Text == "" {
			message["content"] = nil
		}
	}
	choice := object{"index": 0, "message": message, "finish_reason": finish, "logprobs": nil}
	out := object{
		"id": r.identify("chatcmpl-", ""), "object": "chat.completion", "created": 1, "model": r.Model,
		"choices": []any{choice},
		"usage":   a.usage("prompt", "completion"),
	}
	if k.Kind == Azure {
		choice["content_filter_results"] = filtered(finish == "content_filter")
		out["prompt_filter_results"] = []any{object{"prompt_index": 0, "content_filter_results": filtered(false)}}
	}
	return out
}

// filtered is Azure's account of a text.
func filtered(hit bool) object {
	severity := "safe"
	if hit {
		severity = "high"
	}
	return object{"violence": object{"filtered": hit, "severity": severity},
		"hate": object{"filtered": false, "severity": "safe"}}
}
