package llm

import (
	"encoding/json"
	"fmt"

	openai "github.com/sashabaranov/go-openai"
)

// chatRequest returns a request for chat completions without its messages.
func (c *Client) chatRequest(a *wireRequest) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: c.model, ReasoningEffort: a.effort}
	for _, t := range a.request.Tools {
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: a.function(t)})
	}
	if a.hasFormat() {
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONObject,
		}
	}
	if a.hasFormat() && a.form[format] == 0 {
		out.ResponseFormat.Type = openai.ChatCompletionResponseFormatTypeJSONSchema
		out.ResponseFormat.JSONSchema = &openai.ChatCompletionResponseFormatJSONSchema{
			Name: a.request.SchemaName, Schema: a.request.Schema, Strict: true,
		}
	}
	return out
}

func (a *wireRequest) function(t Tool) *openai.FunctionDefinition {
	out := &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Schema, Strict: true}
	if a.form[strict] > 0 {
		plain := toObject(t.Schema)
		delete(plain, "additionalProperties")
		out.Parameters, out.Strict = plain, false
	}
	return out
}

// messages returns the whole conversation, with the servers' extra fields and cache marks.
func (a *wireRequest) messages() []any {
	r := a.request
	first := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: nonEmpty(r.System)}
	out := []any{first, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: nonEmpty(r.User)}}
	if a.form[system] > 0 {
		out = []any{openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: r.System + "\n\n" + r.User}}
	}
	for _, t := range r.Turns {
		if a.form[bridge] > 0 && t.Role == RoleUser {
			out = append(out, openai.ChatCompletionMessage{Role: string(RoleAssistant), Content: "I have read them."})
		}
		m := openai.ChatCompletionMessage{Role: string(t.Role), Content: nonEmpty(t.Text), ToolCallID: t.CallID}
		if len(t.ToolCalls) > 0 {
			m.Content = t.Text
		}
		for _, c := range t.ToolCalls {
			c = c.sendable()
			m.ToolCalls = append(m.ToolCalls, openai.ToolCall{
				ID: c.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: c.Name, Arguments: c.Arguments},
			})
		}
		out = append(out, a.withoutRefusedState(t).withState(m))
	}
	if a.uses[marks] {
		a.addMarks(out)
	}
	return out
}

// toObject converts one of the library's values to its JSON object.
func toObject(v any) map[string]any {
	var out map[string]any
	written, _ := json.Marshal(v) // plain values: it cannot fail, and neither can reading it
	_ = json.Unmarshal(written, &out)
	return out
}

// chatBody is the part of a chat completion that is read. It omits unneeded fields: a wrong type in one of them is
// no reason to lose an answer.
type chatBody struct {
	Object  lax `json:"object"` // Gemini sends no choices where a model wrote nothing
	Model   lax `json:"model"`
	Choices []struct {
		Finish  lax `json:"finish_reason"`
		Message struct {
			Content content    `json:"content"`
			Refusal lax        `json:"refusal"`
			Calls   []chatCall `json:"tool_calls"`
			thought
		} `json:"message"`
	} `json:"choices"`
}

type chatCall struct {
	ID       lax `json:"id"`
	Function struct {
		Name      lax `json:"name"`
		Arguments lax `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

// thought is what servers add to a message and want back with it, in chat completions: DeepSeek its
// reasoning_content, OpenRouter its reasoning_details, Gemini a signature with every call.
type thought struct {
	Content json.RawMessage            `json:"reasoning_content,omitempty"`
	Details json.RawMessage            `json:"reasoning_details,omitempty"`
	Extra   map[string]json.RawMessage `json:"extra_content,omitempty"` // by the call's id
}

func (t thought) state() json.RawMessage {
	for _, field := range []*json.RawMessage{&t.Content, &t.Details} {
		if string(*field) == "null" {
			*field = nil
		}
	}
	if t.Content == nil && t.Details == nil && len(t.Extra) == 0 {
		return nil
	}
	state, _ := json.Marshal(t) // raw values of a body that was read: it cannot fail
	return state
}

// withState returns a turn's message with the fields that the server added to it.
func (t Turn) withState(m openai.ChatCompletionMessage) any {
	var state thought
	if len(t.State) == 0 || t.State[0] != '{' || json.Unmarshal(t.State, &state) != nil {
		return m // no state of ours
	}
	message := toObject(m)
	if state.Content != nil {
		message["reasoning_content"] = state.Content
	}
	if state.Details != nil {
		message["reasoning_details"] = state.Details
	}
	calls, _ := message["tool_calls"].([]any)
	for _, c := range calls {
		call, _ := c.(map[string]any)
		id, _ := call["id"].(string)
		if extra := state.Extra[id]; extra != nil {
			call["extra_content"] = extra
		}
	}
	return message
}

// readChat parses a chat completion that answers the conversation so far.
func readChat(body []byte, before []Turn) (Answer, error) {
	var in chatBody
	if err := json.Unmarshal(body, &in); err != nil || in.Choices == nil && in.Object != "chat.completion" {
		return Answer{}, ErrNotChat
	}
	answer := Answer{Model: string(in.Model)}
	if len(in.Choices) == 0 {
		return answer, nil
	}
	choice := in.Choices[0]
	m := choice.Message
	answer.Text, answer.Refusal = string(m.Content), string(m.Refusal)
	answer.Finish = finishReason(string(choice.Finish))
	m.thought.Extra = map[string]json.RawMessage{}
	known := idsOf(before)
	for _, c := range m.Calls {
		id := known.claim(string(c.ID))
		answer.ToolCalls = append(answer.ToolCalls,
			Call{ID: id, Name: string(c.Function.Name), Arguments: string(c.Function.Arguments)})
		if len(c.Extra) > 0 && string(c.Extra) != "null" {
			m.thought.Extra[id] = c.Extra
		}
	}
	answer.State = m.thought.state()
	return answer, nil
}

// ids holds the ids of a conversation's calls.
type ids map[string]bool

func idsOf(turns []Turn) ids {
	out := ids{}
	for _, t := range turns {
		for _, c := range t.ToolCalls {
			out[c.ID] = true
		}
	}
	return out
}

// claim returns a call's id, or a new one if it is missing or taken: it tells the tools' answers apart.
func (n ids) claim(id string) string {
	for i := len(n); id == "" || n[id]; i++ {
		id = fmt.Sprintf("call%05d", i) // of Mistral's form, nine letters and digits
	}
	n[id] = true
	return id
}
