package llmtest

import (
	"cmp"
	"encoding/json"
	"slices"
)

type chatBody struct {
	common
	Messages []chatMessage `json:"messages"`
	Tools    []struct {
		Function function `json:"function"`
	} `json:"tools"`
	Format struct {
		Type       string     `json:"type"`
		JSONSchema jsonSchema `json:"json_schema"`
	} `json:"response_format"`
	MaxOld *int   `json:"max_tokens"`
	MaxNew *int   `json:"max_completion_tokens"`
	Effort string `json:"reasoning_effort"`
}

type common struct {
	Model       string   `json:"model"`
	Temperature *float64 `json:"temperature"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

func (k *Rules) readChat(raw []byte, out *Request) *refusal {
	var q chatBody
	if refused := decode(out.Fields, raw, "chat", &q); refused != nil {
		return refused
	}
	switch {
	case q.Model == "" && k.Kind != Azure: // whose addresses name the model
		return invalid("you must provide a model parameter")
	case q.MaxOld != nil && q.MaxNew != nil:
		return invalid("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	}
	var tools []function
	for _, t := range q.Tools {
		tools = append(tools, t.Function)
	}
	if q.Format.Type != "text" {
		out.Format = q.Format.Type
	}
	for _, limit := range []*int{q.MaxOld, q.MaxNew} {
		if limit != nil {
			out.MaxTokens = *limit
		}
	}
	f := form{newLimit: q.MaxNew != nil, formatField: "response_format", effortField: "reasoning_effort"}
	return first(k.readMessages(q.Messages, out), q.read(out, tools, q.Format.JSONSchema, q.Effort), k.refuses(f, out))
}

// read takes over what is the same in both interfaces.
func (q common) read(out *Request, tools []function, format jsonSchema, effort string) *refusal {
	out.Model, out.Temperature, out.Effort = q.Model, q.Temperature, effort
	_, chosen := out.Fields["tool_choice"]
	_, parallel := out.Fields["parallel_tool_calls"]
	if tools == nil && (chosen || parallel) {
		return invalid("'tool_choice' and 'parallel_tool_calls' are only allowed when 'tools' are specified.")
	}
	for _, f := range tools {
		if slices.ContainsFunc(out.Tools, func(t Tool) bool { return t.Name == f.Name }) {
			return invalid("Function names must be unique: '%s'.", f.Name).at("tools")
		}
		if err := checkSchema(f.Parameters); err != nil {
			return invalid("Invalid schema for function '%s': %v", f.Name, err).at("tools")
		}
		out.Tools = append(out.Tools, Tool{f.Name, f.Description, f.Parameters})
	}
	if out.Format != "json_schema" {
		return nil
	}
	out.Schema = format.Schema
	if err := checkSchema(format.Schema); err != nil {
		return invalid("Invalid schema for response_format '%s': %v", format.Name, err).at("response_format")
	}
	return nil
}

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

func filtered(hit bool) object {
	severity := "safe"
	if hit {
		severity = "high"
	}
	return object{"violence": object{"filtered": hit, "severity": severity},
		"hate": object{"filtered": false, "severity": "safe"}}
}
