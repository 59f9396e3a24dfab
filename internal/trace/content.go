package trace

import (
	"github.com/go-json-experiment/json"
	"go.opentelemetry.io/otel/attribute"

	"github.com/org/pr-review-action/internal/llm"
)

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

func (t *tracer) parts(m llm.Turn) []part {
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
