package llm

import (
	"encoding/json"
	"fmt"

	openai "github.com/sashabaranov/go-openai"
)

// chatRequest writes a request for chat completions.
func (c *Client) chatRequest(a *asked) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: c.model, Messages: a.messages(), ReasoningEffort: a.effort}
	for _, t := range a.request.Tools {
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: a.function(t)})
	}
	if a.formatted() {
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONObject,
		}
	}
	if a.formatted() && a.form[format] == 0 {
		out.ResponseFormat.Type = openai.ChatCompletionResponseFormatTypeJSONSchema
		out.ResponseFormat.JSONSchema = &openai.ChatCompletionResponseFormatJSONSchema{
			Name: a.request.SchemaName, Schema: a.request.Schema, Strict: true,
		}
	}
	return out
}

func (a *asked) function(t Tool) *openai.FunctionDefinition {
	return &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Schema,
		Strict: a.form[strict] == 0}
}

func (a *asked) messages() []openai.ChatCompletionMessage {
	r := a.request
	out := []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleSystem, Content: filled(r.System)},
		{Role: openai.ChatMessageRoleUser, Content: filled(r.User)},
	}
	if a.form[system] > 0 {
		out = []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: r.System + "\n\n" + r.User}}
	}
	for _, t := range r.Turns {
		m := openai.ChatCompletionMessage{Role: string(t.Role), Content: filled(t.Text), ToolCallID: t.CallID}
		if len(t.ToolCalls) > 0 {
			m.Content = t.Text
		}
		for _, c := range t.ToolCalls {
			c = c.echoed()
			m.ToolCalls = append(m.ToolCalls, openai.ToolCall{
				ID: c.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: c.Name, Arguments: c.Arguments},
			})
		}
		if len(t.State) > 0 && t.State[0] == '{' {
			a.states[len(out)] = t.State
		}
		out = append(out, m)
	}
	return out
}

// chatBody is what is read of a chat completion. Fields that are not needed are
// not read: a wrong type in one of them is no reason to lose an answer.
type chatBody struct {
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

// thought is what servers put beside a message and want back with it, in the
// form of chat completions: DeepSeek its reasoning_content, OpenRouter its
// reasoning_details, Gemini a signature with every call.
type thought struct {
	Content json.RawMessage            `json:"reasoning_content,omitempty"`
	Details json.RawMessage            `json:"reasoning_details,omitempty"`
	Extra   map[string]json.RawMessage `json:"extra_content,omitempty"` // by the call's id
}

func (t thought) state() json.RawMessage {
	if string(t.Content) == "null" {
		t.Content = nil
	}
	if string(t.Details) == "null" {
		t.Details = nil
	}
	if t.Content == nil && t.Details == nil && t.Extra == nil {
		return nil
	}
	state, _ := json.Marshal(t) // raw values of a body that was read: it cannot fail
	return state
}

// readChat reads a chat completion, an answer to a conversation so far.
func readChat(body []byte, before []Turn) (Answer, error) {
	var in chatBody
	if err := json.Unmarshal(body, &in); err != nil || in.Choices == nil {
		return Answer{}, ErrNotChat
	}
	answer := Answer{Model: string(in.Model)}
	if len(in.Choices) == 0 {
		return answer, nil
	}
	choice := in.Choices[0]
	m := choice.Message
	answer.Text, answer.Refusal, answer.Finish = string(m.Content), string(m.Refusal), finish(string(choice.Finish))
	m.thought.Extra = nil
	known := idsOf(before)
	for _, c := range m.Calls {
		id := known.claim(string(c.ID))
		answer.ToolCalls = append(answer.ToolCalls,
			Call{ID: id, Name: string(c.Function.Name), Arguments: string(c.Function.Arguments)})
		if len(c.Extra) > 0 && string(c.Extra) != "null" {
			if m.thought.Extra == nil {
				m.thought.Extra = map[string]json.RawMessage{}
			}
			m.thought.Extra[id] = c.Extra
		}
	}
	answer.State = m.thought.state()
	return answer, nil
}

// ids are those of a conversation's calls.
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

// claim is a call's own id, or a new one where it has none or another's: the
// tools' answers are told apart by it.
func (n ids) claim(id string) string {
	for i := len(n); id == "" || n[id]; i++ {
		id = fmt.Sprintf("call_%d", i)
	}
	n[id] = true
	return id
}
