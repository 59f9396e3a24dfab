package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// object is a JSON object of plain values, so that writing it cannot fail.
type object = map[string]any

// reply is the body of an answer in the form of the interface that was asked.
func (s *Server) reply(r Request, a Answer) []byte {
	var out object
	if r.Interface == ResponsesAPI {
		out = s.response(r, a)
	} else {
		out = s.completion(r, a)
	}
	if a.NoUsage {
		delete(out, "usage")
	}
	body, _ := json.Marshal(out)
	return body
}

// completion is a chat completion around an answer.
func (s *Server) completion(r Request, a Answer) object {
	message := object{"role": "assistant", "content": a.Text, "refusal": nil}
	finish := a.Finish
	switch {
	case finish != "":
	case len(a.Calls) > 0:
		finish = "tool_calls"
	default:
		finish = "stop"
	}
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
	if s.Kind == Azure {
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

// response is what the Responses interface answers. Reasoning stands before
// what it led to.
func (s *Server) response(r Request, a Answer) object {
	status, incomplete := "completed", any(nil)
	if reason := map[string]string{"length": "max_output_tokens",
		"content_filter": "content_filter"}[a.Finish]; reason != "" {
		status, incomplete = "incomplete", object{"reason": reason}
	}
	thought := s.reason(r, a.Calls)
	output := []any{object{"id": thought.id, "type": "reasoning", "summary": []any{},
		"encrypted_content": orNull(thought.sealed)}}
	if thought.sealed == "" {
		delete(output[0].(object), "encrypted_content")
	}
	part := object{"type": "output_text", "text": a.Text, "annotations": []any{}, "logprobs": []any{}}
	if a.Refusal != "" {
		part = object{"type": "refusal", "refusal": a.Refusal}
	}
	if a.Text != "" || a.Refusal != "" {
		output = append(output, object{
			"id": r.identify("msg_", ""), "type": "message", "status": status, "role": "assistant",
			"content": []any{part},
		})
	}
	calls := each(a.Calls, func(c Call) object {
		return object{"id": "fc_" + c.ID, "type": "function_call", "status": "completed", "call_id": c.ID,
			"name": c.Name, "arguments": c.Arguments}
	})
	return object{
		"id": r.identify("resp_", ""), "object": "response", "created_at": 1, "status": status, "error": nil,
		"incomplete_details": incomplete,
		"model":              r.Model, "output": slices.Concat(output, calls), "parallel_tool_calls": true,
		"instructions": nil, "metadata": object{},
		"tool_choice": "auto", "tools": []any{}, "temperature": nil, "top_p": nil,
		"usage": a.usage("input", "output"),
	}
}

// usage counts an answer's tokens under an interface's names for in and out.
func (a Answer) usage(in, out string) object {
	usage := object{
		in + "_tokens": a.input, out + "_tokens": a.output(), "total_tokens": a.input + a.output(),
		in + "_tokens_details":  object{"cached_tokens": a.Cached, "cache_write_tokens": a.CacheWrite},
		out + "_tokens_details": object{"reasoning_tokens": a.Reasoning},
	}
	if a.Cost != 0 {
		usage["cost"] = a.Cost
	}
	return usage
}

func each[T any](list []T, f func(T) object) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// refusal is an answer that says no, in the form of OpenAI's errors.
type refusal struct {
	status            int
	message           string
	kind, param, code string
	bare              bool // without the error object around it, as vLLM writes it
}

func invalid(format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, kind: "invalid_request_error", message: fmt.Sprintf(format, args...)}
}

func (r *refusal) as(status int) *refusal     { r.status = status; return r }
func (r *refusal) of(kind string) *refusal    { r.kind = kind; return r }
func (r *refusal) at(param string) *refusal   { r.param = param; return r }
func (r *refusal) coded(code string) *refusal { r.code = code; return r }

// first is the first of the refusals, if there is one.
func first(all ...*refusal) *refusal {
	for _, r := range all {
		if r != nil {
			return r
		}
	}
	return nil
}

func (r *refusal) write(w http.ResponseWriter) {
	said := map[string]any{"message": r.message, "type": orNull(r.kind), "param": orNull(r.param),
		"code": orNull(r.code)}
	var body any = map[string]any{"error": said}
	if r.bare {
		said["object"], said["code"] = "error", r.status
		body = said
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(body) // a client that left is none of the server's concern
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
