package llmtest

import (
	"slices"
	"strings"
)

type chatMessage struct {
	Role      string  `json:"role"`
	Content   *string `json:"content"`
	Refusal   *string `json:"refusal"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function Call   `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string  `json:"tool_call_id"`
	Thought    *string `json:"reasoning_content"` // no field of OpenAI's; servers of reasoning models write it
}

// readMessages holds the messages of a chat completion to the order of roles
// that the API asks for, and takes them over.
func (k *Rules) readMessages(messages []chatMessage, out *Request) *refusal {
	for i, m := range messages {
		turn, refused := k.readMessage(i, m)
		if refused != nil {
			return refused
		}
		switch {
		case i < 2 && !slices.Contains(leading[i], m.Role), len(messages) < 2:
			return invalid("messages: expected one system and one user message at first").at("messages")
		case i == 0:
			out.System = turn.Text
		case i == 1:
			out.User = turn.Text
		default:
			out.Turns = append(out.Turns, turn)
		}
	}
	return first(checkTurns(out.Turns), k.checkAlternation(out.Turns))
}

var leading = [][]string{{"system", "developer"}, {"user"}}

func (k *Rules) readMessage(i int, m chatMessage) (Turn, *refusal) {
	turn := Turn{Role: m.Role, CallID: m.ToolCallID}
	if m.Content != nil {
		turn.Text = *m.Content
	}
	if m.Thought != nil {
		turn.Thought = *m.Thought
	}
	assistant := m.Role == "assistant"
	switch {
	case i >= 2 && slices.Contains(leading[0], m.Role):
		return Turn{}, invalid("messages[%d]: the system turn stands first", i).at("messages")
	case !assistant && (len(m.ToolCalls) > 0 || m.Refusal != nil || m.Thought != nil), m.Role != "tool" &&
		m.ToolCallID != "":
		return Turn{}, invalid("Additional properties are not allowed: 'messages[%d]'", i).at("messages")
	case m.Thought != nil && (k.Kind == Strict || k.Kind == Azure || k.Kind == Slow):
		return Turn{}, invalid("Additional properties are not allowed ('reasoning_content' was unexpected) - "+
			"'messages.%d'", i).at("messages")
	case m.Role == "tool" && (m.ToolCallID == "" || m.Content == nil):
		return Turn{}, invalid("Missing required parameter: 'messages[%d].tool_call_id' or 'content'.",
			i).at("messages")
	case turn.Text == "" && m.Role != "tool" && len(m.ToolCalls) == 0 && m.Refusal == nil:
		return Turn{}, invalid("Invalid value for 'messages[%d].content': empty content", i).at("messages")
	}
	for _, c := range m.ToolCalls {
		turn.Calls = append(turn.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return turn, nil
}

// checkTurns has every call answered once, before anything else is said.
func checkTurns(turns []Turn) *refusal {
	var open []string
	for _, t := range append(slices.Clone(turns), Turn{Role: "end"}) {
		if t.Role == "tool" {
			at := slices.Index(open, t.CallID)
			if at < 0 {
				return invalid("Invalid parameter: messages with role 'tool' must be a response to a preceeding " +
					"message with 'tool_calls'.").at("messages")
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return invalid("The following tool_call_ids did not have response messages: %s",
				strings.Join(open, ", ")).at("messages")
		}
		for _, c := range t.Calls {
			open = append(open, c.ID)
		}
	}
	if n := len(turns); n > 0 && turns[n-1].Role == "assistant" {
		return invalid("Expected last role User or Tool for serving but got assistant").at("messages")
	}
	return nil
}

// checkAlternation is what the chat templates of many open models ask for.
func (k *Rules) checkAlternation(turns []Turn) *refusal {
	if k.Kind != Plain {
		return nil
	}
	for i, t := range turns {
		if t.Role != []string{"assistant", "user"}[i%2] {
			return invalid("Conversation roles must alternate user/assistant/user/assistant/...").of("BadRequestError")
		}
	}
	return nil
}
