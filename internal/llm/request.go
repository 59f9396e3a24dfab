package llm

import (
	"encoding/json"

	"github.com/org/pr-review-action/internal/cost"
)

// Request is a conversation so far, and the settings of the next turn.
type Request struct {
	System, User string // the constant turn and the first user turn
	Turns        []Turn // the rest of the conversation so far
	Tools        []Tool // functions that the model may call; constant within a conversation

	SchemaName string          // of Schema: letters, digits, "_" and "-"
	Schema     json.RawMessage // JSON schema of the final answer, in the strict subset; empty for none

	MaxTokens int // of the output, reasoning included; 0 for ModelOptions.MaxOutputTokens
	// the limit must hold, since it determined the reserved money: ErrNoLimit rather than a request without one
	Bounded       bool
	Deterministic bool   // asks for the likeliest answer (temperature 0), as far as the model can
	Effort        string // of reasoning: none, minimal, low, medium, high; empty for the client's own
}

// Role is the author of a turn.
type Role string

// The roles of a conversation's turns.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Turn is one turn after the first user turn.
type Turn struct {
	Role      Role            `json:"role"`
	Text      string          `json:"text,omitempty"`
	ToolCalls []Call          `json:"calls,omitempty"`   // of an assistant's turn
	CallID    string          `json:"call_id,omitempty"` // of a tool's turn: the call that it answers
	State     json.RawMessage `json:"state,omitempty"`   // of an assistant's turn: Answer.State, unchanged
}

// Call is a model's request to run a tool. All of it is untrusted text, and Arguments need not be JSON. ID is
// unique within the conversation.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool is a function that a model may call. Schema is the JSON schema of its arguments, in the strict subset.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
}

// Answer is a model's answer. Text, Model, Refusal and ToolCalls are untrusted text. Finish is the finish reason
// in the terms of chat completions, and "tool_calls" if there are calls. State is what the server wants back with
// this answer's turn, if anything. Usage counts this one call.
type Answer struct {
	Text, Model, Finish, Refusal string

	ToolCalls []Call
	State     json.RawMessage
	Usage     cost.Usage
}

// tokens returns the most that a server's rate limit may count for a request: its output limit, and a token for
// every four bytes.
func (r Request) tokens(limit int) int64 {
	return int64(r.Bytes()/4 + limit)
}

// Bytes returns the size of all the text in a request.
func (r Request) Bytes() int {
	n := len(r.System) + len(r.User) + len(r.SchemaName) + len(r.Schema)
	for _, t := range r.Turns {
		n += len(t.Role) + len(t.Text) + len(t.CallID) + len(t.State)
		for _, c := range t.ToolCalls {
			n += len(c.ID) + len(c.Name) + len(c.Arguments)
		}
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}
