package llm

import (
	"encoding/json"
	"slices"

	openai "github.com/sashabaranov/go-openai"
)

// responsesRequest returns a request for the Responses interface, without its input. The server
// stores nothing: the reasoning comes back encrypted and is sent along with the tools' results.
func (c *Client) responsesRequest(a *wireRequest) openai.CreateResponseRequest {
	out := openai.CreateResponseRequest{Model: c.model, Store: new(bool)}
	if !a.uses[marks] {
		out.Instructions = a.request.System
	}
	if c.at.deployment != "" {
		out.Model = c.at.deployment
	}
	if a.uses[state] {
		out.Include = []openai.ResponseInclude{openai.ResponseIncludeReasoningEncryptedContent}
	}
	if a.effort != "" {
		out.Reasoning = &openai.ResponseReasoning{Effort: a.effort}
	}
	for _, t := range a.request.Tools {
		out.Tools = append(out.Tools, openai.NewResponseFunctionTool(*a.function(t)))
	}
	if a.hasFormat() {
		out.Text = &openai.ResponseTextConfig{Format: &openai.ResponseTextFormat{Type: "json_object"}}
	}
	if a.hasFormat() && a.form[format] == 0 {
		out.Text.Format = &openai.ResponseTextFormat{
			Type: "json_schema", Name: a.request.SchemaName, Schema: a.request.Schema, Strict: true,
		}
	}
	return out
}

// items returns the conversation after the system turn or, with marks, which instructions cannot have, from it on.
func (a *wireRequest) items() []any {
	out := []any{openai.ResponseInputMessage{Role: string(RoleUser), Content: nonEmpty(a.request.User)}}
	if a.uses[marks] {
		out = slices.Insert(out, 0, any(openai.ResponseInputMessage{Role: openai.ChatMessageRoleSystem,
			Content: nonEmpty(a.request.System)}))
	}
	for _, t := range a.request.Turns {
		switch {
		case t.Role == RoleTool:
			out = append(out, openai.ResponseFunctionCallOutput{Type: "function_call_output", CallID: t.CallID,
				Output: nonEmpty(t.Text)})
		case t.Role == RoleAssistant:
			out = append(out, a.withoutRefusedState(t).items()...)
		default:
			out = append(out, openai.ResponseInputMessage{Role: string(t.Role), Content: nonEmpty(t.Text)})
		}
	}
	if a.uses[marks] {
		a.addMarks(out)
	}
	return out
}

type functionCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// withoutRefusedState returns a turn without its state if the server refused it. Behind one address there may be
// servers that cannot read what another sealed.
func (a *wireRequest) withoutRefusedState(t Turn) Turn {
	if a.form[state] > 0 {
		t.State = nil
	}
	return t
}

// items returns an assistant's turn: the server's own items if there are any, without calls that
// the turn no longer has; each call needs an answer.
func (t Turn) items() (out []any) {
	var written []json.RawMessage
	if json.Unmarshal(t.State, &written) == nil && len(written) > 0 {
		written = slices.DeleteFunc(written, func(raw json.RawMessage) bool {
			item := readItem(raw)
			return item.Type == "function_call" && !slices.ContainsFunc(t.ToolCalls, func(c Call) bool {
				return c.ID == string(item.CallID)
			})
		})
		for _, raw := range written {
			out = append(out, raw)
		}
		return out
	}
	if t.Text != "" || len(t.ToolCalls) == 0 {
		out = append(out, openai.ResponseInputMessage{Role: string(RoleAssistant), Content: nonEmpty(t.Text)})
	}
	for _, c := range t.ToolCalls {
		c = c.sendable()
		out = append(out, functionCall{"function_call", c.ID, c.Name, c.Arguments})
	}
	return out
}

type responsesBody struct {
	Model      lax               `json:"model"`
	Status     lax               `json:"status"`
	Output     []json.RawMessage `json:"output"`
	OutputText lax               `json:"output_text"`
	Incomplete struct {
		Reason lax `json:"reason"`
	} `json:"incomplete_details"`
}

type item struct {
	Type    string `json:"type"`
	Content []struct {
		Text    lax `json:"text"`
		Refusal lax `json:"refusal"`
	} `json:"content"`
	CallID    lax `json:"call_id"`
	Name      lax `json:"name"`
	Arguments lax `json:"arguments"`
}

// readItem leaves out fields of an unexpected type.
func readItem(raw json.RawMessage) item {
	var i item
	_ = json.Unmarshal(raw, &i)
	return i
}

// readResponses parses an answer of the Responses interface. It keeps the items that the server
// may want back unchanged.
func readResponses(body []byte, before []Turn) (Answer, error) {
	var in responsesBody
	if err := json.Unmarshal(body, &in); err != nil || in.Output == nil {
		return Answer{}, ErrNotChat
	}
	answer := Answer{Model: string(in.Model), Finish: finishReason(string(in.Incomplete.Reason))}
	if answer.Finish == "" && in.Status == "completed" {
		answer.Finish = "stop"
	}
	var kept []json.RawMessage
	known := idsOf(before)
	for _, raw := range in.Output {
		switch item := readItem(raw); item.Type {
		case "message":
			kept = append(kept, raw)
			for _, part := range item.Content {
				answer.Text += string(part.Text)
				answer.Refusal += string(part.Refusal)
			}
		case "function_call":
			id := known.claim(string(item.CallID))
			if id != string(item.CallID) { // missing, or already taken
				call := toObject(raw)
				call["call_id"] = id
				raw, _ = json.Marshal(call) // plain values: it cannot fail
			}
			answer.ToolCalls = append(answer.ToolCalls,
				Call{ID: id, Name: string(item.Name), Arguments: string(item.Arguments)})
			kept = append(kept, raw)
		case "reasoning":
			kept = append(kept, raw)
		}
	}
	if answer.Text == "" && len(answer.ToolCalls) == 0 {
		answer.Text = string(in.OutputText)
	}
	if len(kept) > 0 {
		answer.State, _ = json.Marshal(kept) // raw values of a body that was read: it cannot fail
	}
	return answer, nil
}
