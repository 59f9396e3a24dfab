package trace

import (
	"github.com/go-json-experiment/json"
	"go.opentelemetry.io/otel/attribute"
)

// Message is one turn of a conversation. All of it is untrusted text.
type Message struct {
	Role      string // system, user, assistant or tool
	Text      string
	ToolCalls []Asked // of an assistant's turn
	CallID    string  // of a tool's turn: the call that it answers
}

// Asked is a tool that a model asked for.
type Asked struct{ ID, Name, Arguments string }

// spelled is a message in the convention's form.
// https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-input-messages.json
type spelled struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitzero"`
}

type part struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitzero"`
	ID        string `json:"id,omitzero"`
	Name      string `json:"name,omitzero"`
	Arguments string `json:"arguments,omitzero"`
	Response  string `json:"response,omitzero"`
}

// messages sets what was said, where a span may hold it.
func (c *call) messages(s *Span, e CallEnd) {
	if c.Input != nil {
		var system []part
		var turns []spelled
		for _, m := range c.Input() {
			if m.Role == "system" {
				system = append(system, c.parts(m)...)
				continue
			}
			turns = append(turns, spelled{Role: m.Role, Parts: c.parts(m)})
		}
		s.json("gen_ai.system_instructions", system)
		s.json("gen_ai.input.messages", turns)
	}
	if e.Output != nil && c.ctx.Value(withheld{}) == nil {
		s.json("gen_ai.output.messages", []spelled{{Role: "assistant", Parts: c.parts(e.Output()),
			Finish: c.safe(e.Finish)}})
	}
}

func (t *tracer) parts(m Message) []part {
	all := []part{}
	switch {
	case m.CallID != "":
		return append(all, part{Type: "tool_call_response", ID: t.safe(m.CallID), Response: t.long(m.Text)})
	case m.Text != "":
		all = append(all, part{Type: "text", Content: t.long(m.Text)})
	}
	for _, a := range m.ToolCalls {
		all = append(all, part{Type: "tool_call", ID: t.safe(a.ID), Name: t.safe(a.Name),
			Arguments: t.long(a.Arguments)})
	}
	return all
}

// json sets an attribute whose texts are safe already.
func (s *Span) json(key string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		return // plain structs of valid UTF-8: it cannot fail
	}
	s.set(attribute.String(key, string(text)))
}
