package llmtest

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	strict "github.com/go-json-experiment/json"
)

// responsesFields are the fields of a request to the Responses interface
// (CreateResponse of OpenAI's published description). A seed is none of them.
var responsesFields = strings.Fields(`background context_management conversation include input instructions
	max_output_tokens max_tool_calls
	metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options
	prompt_cache_retention
	reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools
	top_logprobs top_p truncation user`)

const minOutputTokens = 16

// encrypted is what a request includes to get its reasoning back sealed.
const encrypted = "reasoning.encrypted_content"

type responsesText struct {
	Format *struct {
		Type string `json:"type"`
		jsonSchema
	} `json:"format"`
}

type responsesTool struct {
	Type string `json:"type"`
	function
}

// item is one item of a request's input, of any type.
type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Role      string          `json:"role"`
	Phase     string          `json:"phase"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments *string         `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Summary   *[]struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"summary"`
	Encrypted *string `json:"encrypted_content"`
}

func (k *Rules) readResponses(b body, out *Request, t *thoughts) *refusal {
	var (
		offered   []responsesTool
		words     responsesText
		reasoning struct {
			Effort string `json:"effort"`
		}
		include []string
		f       = form{formatField: "text.format", effortField: "reasoning.effort"}
	)
	refused := first(
		b.only(responsesFields),
		b.common(out, &f),
		b.into("instructions", &out.System),
		b.into("tools", &offered),
		b.into("text", &words),
		b.into("reasoning", &reasoning),
		b.into("include", &include),
		b.into("max_output_tokens", &f.maxNew),
	)
	if refused == nil {
		f.effort = reasoning.Effort
		refused = first(t.readInput(b["input"], out), readResponsesTools(b, offered, out), words.read(out),
			f.check(out))
	}
	switch {
	case refused != nil:
		return refused
	case f.maxNew != nil && *f.maxNew < minOutputTokens:
		return invalid("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= %d.",
			minOutputTokens).at("max_output_tokens")
	}
	return k.refuses(f, out)
}

func (t responsesText) read(out *Request) *refusal {
	switch f := t.Format; {
	case f == nil:
		return nil
	case f.Type == "json_schema":
		return f.jsonSchema.read(out, "text.format")
	}
	return invalid("Invalid value: '%s'. Supported values are: 'json_schema'.", t.Format.Type).at("text.format.type")
}

func readResponsesTools(b body, offered []responsesTool, out *Request) *refusal {
	tools := make([]chatTool, len(offered))
	for i, t := range offered {
		tools[i] = chatTool{t.Type, t.function}
	}
	return b.readTools(tools, out)
}

// readInput turns the items of an input into turns.
func (t *thoughts) readInput(raw json.RawMessage, out *Request) *refusal {
	var items []item
	if err := strict.Unmarshal(raw, &items, strict.RejectUnknownMembers(true)); err != nil {
		return invalid("Invalid value for 'input': %v", err).at("input")
	}
	var turns []Turn
	for i, it := range items {
		if refused := t.readItem(i, items, &turns); refused != nil {
			return refused.at("input")
		}
		if it.Type == "reasoning" && (i+1 == len(items) || !follows(items[i+1])) {
			return invalid("Item '%s' of type 'reasoning' was provided without its required following item.",
				it.ID).at("input")
		}
	}
	late := slices.ContainsFunc(turns, func(t Turn) bool { return slices.Contains(leading[0], t.Role) })
	if out.System == "" || len(turns) == 0 || turns[0].Role != "user" || late {
		return invalid("input: expected one user message at first, and no other instructions").at("input")
	}
	out.User, out.Turns = turns[0].Text, turns[1:]
	return checkTurns(out.Turns)
}

// follows reports whether an item can be the one that was reasoned about.
func follows(it item) bool {
	return it.Type == "function_call" || it.Type == "reasoning" || isMessage(it) && it.Role == "assistant"
}

func isMessage(it item) bool { return it.Type == "message" || it.Type == "" }

func (t *thoughts) readItem(i int, items []item, turns *[]Turn) *refusal {
	switch it := items[i]; {
	case isMessage(it):
		words, err := text(it.Content)
		if err != nil || words == "" || !slices.Contains([]string{"user", "assistant", "system", "developer"},
			it.Role) {
			return invalid("Invalid 'input[%d]': a message of role '%s' without a text: %v", i, it.Role, err)
		}
		speak(turns, it.Role).Text += words
	case it.Type == "reasoning":
		if it.ID == "" || it.Summary == nil {
			return invalid("Missing required parameter: 'input[%d].id' or 'summary'.", i)
		}
		speak(turns, "assistant").Thought += it.ID
	case it.Type == "function_call":
		if it.CallID == "" || it.Arguments == nil || !toolName.MatchString(it.Name) {
			return invalid("Missing required parameter: 'input[%d].call_id', 'name' or 'arguments'.", i)
		}
		turn := speak(turns, "assistant")
		turn.Calls = append(turn.Calls, Call{it.CallID, it.Name, *it.Arguments})
		return t.reasoned(it, items[:i])
	case it.Type == "function_call_output":
		words, err := text(it.Output)
		if err != nil || it.CallID == "" || it.Output == nil {
			return invalid("Missing required parameter: 'input[%d].call_id' or 'output': %v", i, err)
		}
		*turns = append(*turns, Turn{Role: "tool", Text: words, CallID: it.CallID})
	default:
		return invalid("Invalid value: '%s' as a type of item.", it.Type)
	}
	return nil
}

// speak is the turn that an item belongs to. Items of an assistant that follow
// each other are one turn.
func speak(turns *[]Turn, role string) *Turn {
	if n := len(*turns); n == 0 || role != "assistant" || (*turns)[n-1].Role != role {
		*turns = append(*turns, Turn{Role: role})
	}
	return &(*turns)[len(*turns)-1]
}

// thought is a reasoning item that a server of the Responses interface put
// before a call, and wants back before it.
type thought struct {
	id, sealed string
	stored     bool // the request let the server keep it
}

// thoughts are those behind the calls of a server, by the calls' ids.
type thoughts struct {
	mu     sync.Mutex
	behind map[string]thought
}

// reason makes the reasoning item of an answer, and remembers it for its calls.
func (t *thoughts) reason(r Request, calls []Call) thought {
	var include []string
	store := true
	_ = body(r.Fields).into("include", &include)
	_ = body(r.Fields).into("store", &store) // both were read before
	made := thought{id: r.identify("rs_", ""), stored: store}
	if slices.Contains(include, encrypted) {
		made.sealed = r.identify("gAAAA", "sealed")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range calls {
		t.behind[c.ID] = made
	}
	return made
}

// reasoned checks that the reasoning behind a call came back, whole.
func (t *thoughts) reasoned(call item, before []item) *refusal {
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
	case before[at].Encrypted == nil || *before[at].Encrypted == "":
		if !want.stored {
			return invalid("Item with id '%s' not found. Items are not persisted when `store` is set to false. "+
				"Try again with `store` set to true, or remove this item from your input.", want.id)
		}
	case *before[at].Encrypted != want.sealed:
		return invalid("The encrypted content %s could not be verified.",
			*before[at].Encrypted).coded("invalid_encrypted_content")
	}
	return nil
}

// response is what the Responses interface answers. Reasoning stands before
// what it led to.
func (t *thoughts) response(r Request, a Answer) object {
	status, incomplete := "completed", any(nil)
	if reason := map[string]string{"length": "max_output_tokens",
		"content_filter": "content_filter"}[a.Finish]; reason != "" {
		status, incomplete = "incomplete", object{"reason": reason}
	}
	thought := t.reason(r, a.Calls)
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
