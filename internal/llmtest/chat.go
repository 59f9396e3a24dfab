package llmtest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// content is a text, as a string or in parts; marked reports that it ends with a cache breakpoint.
type content struct {
	text   string
	marked bool
}

func (c *content) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	if from.PeekKind() == '"' {
		return jsonv2.UnmarshalDecode(from, &c.text)
	}
	var parts []struct {
		Text       string `json:"text"`
		Breakpoint any    `json:"prompt_cache_breakpoint"`
	}
	if err := jsonv2.UnmarshalDecode(from, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text, c.marked = c.text+p.Text, p.Breakpoint != nil
	}
	return nil
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
	case q.Model == "" && k.Kind != Azure: // its addresses name the model
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
	if k.DeafToMaxNew {
		q.MaxNew = nil
	}
	for _, limit := range []*int{q.MaxOld, q.MaxNew} {
		if limit != nil {
			out.MaxTokens = *limit
		}
	}
	f := form{newLimit: q.MaxNew != nil, oldLimit: q.MaxOld != nil, formatField: "response_format",
		effortField: "reasoning_effort"}
	return cmp.Or(k.readMessages(q.Messages, out), q.read(out, tools, q.Format.JSONSchema, q.Effort),
		k.checkSupport(f, out))
}

// read copies what both interfaces have in common.
func (q common) read(out *Request, tools []function, format jsonSchema, effort string) *refusal {
	out.Model, out.Temperature, out.Effort = q.Model, q.Temperature, effort
	if _, set := out.Fields["prompt_cache_options"]; set && !breakpoints.MatchString(q.Model) {
		return invalid("Unsupported parameter: 'prompt_cache_options' is not supported with this model.").
			withParam("prompt_cache_options").withCode("unsupported_parameter")
	}
	_, chosen := out.Fields["tool_choice"]
	_, parallel := out.Fields["parallel_tool_calls"]
	if tools == nil && (chosen || parallel) {
		return invalid("'tool_choice' and 'parallel_tool_calls' are only allowed when 'tools' are specified.")
	}
	for _, f := range tools {
		if slices.ContainsFunc(out.Tools, func(t Tool) bool { return t.Name == f.Name }) {
			return invalid("Function names must be unique: '%s'.", f.Name).withParam("tools")
		}
		if err := checkSchema(f.Parameters); err != nil {
			return invalid("Invalid schema for function '%s': %v", f.Name, err).withParam("tools")
		}
		out.Tools = append(out.Tools, Tool{f.Name, f.Description, f.Parameters})
	}
	if out.Format != "json_schema" {
		return nil
	}
	out.Schema = format.Schema
	if err := checkSchema(format.Schema); err != nil {
		return invalid("Invalid schema for response_format '%s': %v", format.Name, err).withParam("response_format")
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
		message["tool_calls"] = mapList(a.Calls, func(c Call) object {
			return object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}}
		})
		if a.Text == "" {
			message["content"] = nil
		}
	}
	choice := object{"index": 0, "message": message, "finish_reason": finish, "logprobs": nil}
	out := object{
		"id": r.newID("chatcmpl-", ""), "object": "chat.completion", "created": 1, "model": r.Model,
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

type chatMessage struct {
	Role      string   `json:"role"`
	Content   *content `json:"content"`
	Refusal   *string  `json:"refusal"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function Call   `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string  `json:"tool_call_id"`
	Thought    *string `json:"reasoning_content"` // not a field of OpenAI's; servers of reasoning models write it
}

// readMessages checks that messages have their roles in the API's order, and copies them.
func (k *Rules) readMessages(messages []chatMessage, out *Request) *refusal {
	for i, m := range messages {
		turn, refused := k.readMessage(i, m)
		if refused != nil {
			return refused
		}
		switch {
		case i < 2 && !slices.Contains(leading[i], m.Role), len(messages) < 2:
			return invalid("messages: expected one system and one user message at first").withParam("messages")
		case i == 0:
			out.System, out.Breakpoint = turn.Text, m.Content != nil && m.Content.marked
		case i == 1:
			out.User = turn.Text
		default:
			out.Turns = append(out.Turns, turn)
		}
	}
	return cmp.Or(checkTurns(out.Turns), k.checkAlternation(out.Turns))
}

var leading = [][]string{{"system", "developer"}, {"user"}}

func (k *Rules) readMessage(i int, m chatMessage) (Turn, *refusal) {
	turn := Turn{Role: m.Role, CallID: m.ToolCallID}
	if m.Content != nil {
		turn.Text = m.Content.text
	}
	if m.Thought != nil {
		turn.Thought = *m.Thought
	}
	assistant := m.Role == "assistant"
	switch {
	case i >= 2 && slices.Contains(leading[0], m.Role):
		return Turn{}, invalid("messages[%d]: the system turn stands first", i).withParam("messages")
	case !assistant && (len(m.ToolCalls) > 0 || m.Refusal != nil || m.Thought != nil), m.Role != "tool" &&
		m.ToolCallID != "":
		return Turn{}, invalid("Additional properties are not allowed: 'messages[%d]'", i).withParam("messages")
	case m.Thought != nil && (k.Kind == Strict || k.Kind == Azure || k.Kind == Slow):
		return Turn{}, invalid("Additional properties are not allowed ('reasoning_content' was unexpected) - "+
			"'messages.%d'", i).withParam("messages")
	case m.Role == "tool" && (m.ToolCallID == "" || m.Content == nil):
		return Turn{}, invalid("Missing required parameter: 'messages[%d].tool_call_id' or 'content'.",
			i).withParam("messages")
	case turn.Text == "" && m.Role != "tool" && len(m.ToolCalls) == 0 && m.Refusal == nil:
		return Turn{}, invalid("Invalid value for 'messages[%d].content': empty content", i).withParam("messages")
	}
	for _, c := range m.ToolCalls {
		turn.Calls = append(turn.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return turn, nil
}

// checkTurns checks that every call is answered once, before any other turn.
func checkTurns(turns []Turn) *refusal {
	var open []string
	for _, t := range append(slices.Clone(turns), Turn{Role: "end"}) {
		if t.Role == "tool" {
			at := slices.Index(open, t.CallID)
			if at < 0 {
				return invalid("Invalid parameter: messages with role 'tool' must be a response to a preceeding " +
					"message with 'tool_calls'.").withParam("messages")
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return invalid("The following tool_call_ids did not have response messages: %s",
				strings.Join(open, ", ")).withParam("messages")
		}
		for _, c := range t.Calls {
			open = append(open, c.ID)
		}
	}
	if n := len(turns); n > 0 && turns[n-1].Role == "assistant" {
		return invalid("Expected last role User or Tool for serving but got assistant").withParam("messages")
	}
	return nil
}

// checkAlternation checks what the chat templates of many open models require.
func (k *Rules) checkAlternation(turns []Turn) *refusal {
	for i, t := range turns {
		if k.NoUserBehind && i > 0 && t.Role == "user" && turns[i-1].Role == "tool" {
			return invalid("Unexpected role 'user' after role 'tool'").withType("invalid_request_message_order").
				withCode("3230")
		}
	}
	if k.Kind != Plain {
		return nil
	}
	for i, t := range turns {
		if t.Role != []string{"assistant", "user"}[i%2] {
			e := invalid("Conversation roles must alternate user/assistant/user/assistant/...")
			return e.withType("BadRequestError")
		}
	}
	return nil
}
