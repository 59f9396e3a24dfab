package llmtest

import (
	"cmp"
	"slices"
	"sync"
)

// encrypted is what a request includes to get its reasoning back encrypted.
const encrypted = "reasoning.encrypted_content"

type responsesBody struct {
	common
	Instructions string     `json:"instructions"`
	Input        []item     `json:"input"`
	Tools        []function `json:"tools"`
	Text         struct {
		Format jsonSchema `json:"format"`
	} `json:"text"`
	Reasoning struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	MaxNew int `json:"max_output_tokens"`
}

type item struct {
	Type      string  `json:"type"`
	ID        string  `json:"id"`
	Role      string  `json:"role"`
	Content   content `json:"content"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments *string `json:"arguments"`
	Output    *string `json:"output"`
	Summary   []any   `json:"summary"`
	Encrypted string  `json:"encrypted_content"`
}

func (k *Rules) readResponses(raw []byte, out *Request, t *thoughts) *refusal {
	var q responsesBody
	if refused := decode(out.Fields, raw, "responses", &q); refused != nil {
		return refused
	}
	out.System, out.MaxTokens = q.Instructions, q.MaxNew
	if q.Text.Format.Name != "" {
		out.Format = "json_schema"
	}
	f := form{newLimit: q.MaxNew > 0, formatField: "text.format", effortField: "reasoning.effort"}
	return cmp.Or(t.readInput(q.Input, out), q.read(out, q.Tools, q.Text.Format, q.Reasoning.Effort),
		k.checkSupport(f, out))
}

func (t *thoughts) readInput(items []item, out *Request) *refusal {
	var turns []Turn
	for i, it := range items {
		if refused := t.readItem(i, items, &turns); refused != nil {
			return refused.withParam("input")
		}
		if it.Type == "reasoning" && (i+1 == len(items) || !follows(items[i+1])) {
			return invalid("Item '%s' of type 'reasoning' was provided without its required following item.",
				it.ID).withParam("input")
		}
	}
	if len(turns) > 0 && out.System == "" && slices.Contains(leading[0], turns[0].Role) {
		out.System, out.Breakpoint, turns = turns[0].Text, items[0].Content.marked, turns[1:]
	}
	late := slices.ContainsFunc(turns, func(t Turn) bool { return slices.Contains(leading[0], t.Role) })
	if out.System == "" || len(turns) == 0 || turns[0].Role != "user" || late {
		return invalid("input: expected one user message at first, and no other instructions").withParam("input")
	}
	out.User, out.Turns = turns[0].Text, turns[1:]
	return checkTurns(out.Turns)
}

func follows(it item) bool {
	return it.Type == "function_call" || it.Type == "reasoning" || isMessage(it) && it.Role == "assistant"
}

func isMessage(it item) bool { return it.Type == "message" || it.Type == "" }

func (t *thoughts) readItem(i int, items []item, turns *[]Turn) *refusal {
	switch it := items[i]; {
	case isMessage(it):
		if it.Content.text == "" || it.Role == "" {
			return invalid("Invalid 'input[%d]': a message of role '%s' without a text", i, it.Role)
		}
		turnOf(turns, it.Role).Text += it.Content.text
	case it.Type == "reasoning":
		if it.ID == "" || it.Summary == nil {
			return invalid("Missing required parameter: 'input[%d].id' or 'summary'.", i)
		}
		turnOf(turns, "assistant").Thought += it.ID
	case it.Type == "function_call":
		if it.CallID == "" || it.Arguments == nil || it.Name == "" {
			return invalid("Missing required parameter: 'input[%d].call_id', 'name' or 'arguments'.", i)
		}
		turn := turnOf(turns, "assistant")
		turn.Calls = append(turn.Calls, Call{it.CallID, it.Name, *it.Arguments})
		return t.checkReasoning(it, items[:i])
	default:
		if it.CallID == "" || it.Output == nil {
			return invalid("Missing required parameter: 'input[%d].call_id' or 'output'.", i)
		}
		*turns = append(*turns, Turn{Role: "tool", Text: *it.Output, CallID: it.CallID})
	}
	return nil
}

// turnOf returns the turn that an item belongs to. Consecutive items of an assistant are one turn.
func turnOf(turns *[]Turn, role string) *Turn {
	if n := len(*turns); n == 0 || role != "assistant" || (*turns)[n-1].Role != role {
		*turns = append(*turns, Turn{Role: role})
	}
	return &(*turns)[len(*turns)-1]
}

// thought is a reasoning item that a server of the Responses interface put before a call, and wants back before it.
type thought struct {
	id, sealed string
	stored     bool // the request let the server keep it
}

type thoughts struct {
	mu     sync.Mutex
	behind map[string]thought
}

// newThought makes the reasoning item of an answer, and remembers it for its calls.
func (t *thoughts) newThought(r Request, calls []Call) thought {
	include, _ := r.Fields["include"].([]any)
	made := thought{id: r.newID("rs_", ""), stored: r.Fields["store"] != false}
	if slices.Contains(include, any(encrypted)) {
		made.sealed = r.newID("gAAAA", "sealed")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range calls {
		t.behind[c.ID] = made
	}
	return made
}

// checkReasoning checks that the reasoning behind a call came back complete.
func (t *thoughts) checkReasoning(call item, before []item) *refusal {
	t.mu.Lock()
	want, known := t.behind[call.CallID]
	t.mu.Unlock()
	if !known {
		return nil
	}
	at := slices.IndexFunc(before, func(it item) bool { return it.Type == "reasoning" && it.ID == want.id })
	switch {
	case at < 0:
		return invalid("Item '%s' of type 'function_call' was provided without its required 'reasoning' item: '%s'.",
			call.ID, want.id)
	case before[at].Encrypted == "":
		if !want.stored {
			return invalid("Item with id '%s' not found. Items are not persisted when `store` is set to false. "+
				"Try again with `store` set to true, or remove this item from your input.", want.id)
		}
	case before[at].Encrypted != want.sealed:
		return invalid("The encrypted content %s could not be verified.",
			before[at].Encrypted).withCode("invalid_encrypted_content")
	}
	return nil
}

// response returns an answer of the Responses interface. Reasoning precedes what it led to.
func (t *thoughts) response(r Request, a Answer) object {
	status, incomplete := "completed", any(nil)
	if reason := map[string]string{"length": "max_output_tokens",
		"content_filter": "content_filter"}[a.Finish]; reason != "" {
		status, incomplete = "incomplete", object{"reason": reason}
	}
	thought := t.newThought(r, a.Calls)
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
			"id": r.newID("msg_", ""), "type": "message", "status": status, "role": "assistant",
			"content": []any{part},
		})
	}
	calls := mapList(a.Calls, func(c Call) object {
		return object{"id": "fc_" + c.ID, "type": "function_call", "status": "completed", "call_id": c.ID,
			"name": c.Name, "arguments": c.Arguments}
	})
	return object{
		"id": r.newID("resp_", ""), "object": "response", "created_at": 1, "status": status, "error": nil,
		"incomplete_details": incomplete,
		"model":              r.Model, "output": slices.Concat(output, calls), "parallel_tool_calls": true,
		"instructions": nil, "metadata": object{},
		"tool_choice": "auto", "tools": []any{}, "temperature": nil, "top_p": nil,
		"usage": a.usage("input", "output"),
	}
}
