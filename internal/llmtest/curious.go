package llmtest

import (
	"encoding/json"
	"slices"
)

// Curious looks around before it answers: where tools are offered and no call of one was answered yet, it makes calls,
// those of Look where none are named. Then next answers.
func Curious(next Script, calls ...Call) Script {
	return func(r Request) Answer {
		looked := slices.ContainsFunc(r.Turns, func(t Turn) bool { return t.Role == "tool" })
		switch {
		case len(r.Tools) == 0 || looked:
			return next(r)
		case len(calls) > 0:
			return Answer{Calls: calls}
		}
		return Answer{Calls: Look(r)}
	}
}

// Look is a call of the tool that reads a file, else of the first that is offered, with arguments that fit its schema.
func Look(r Request) []Call {
	name := offered(r)
	for _, tool := range r.Tools {
		if tool.Name == name {
			return []Call{{Name: name, Arguments: arguments(tool.Schema, r.Path)}}
		}
	}
	return []Call{{Name: name, Arguments: "{}"}}
}

func offered(r Request) string {
	const favourite = "read_file"
	if len(r.Tools) == 0 || slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.Name == favourite }) {
		return favourite
	}
	return r.Tools[0].Name
}

// arguments fills a schema's properties in: the first value of an enum, the
// file's path for a path, and else 1 or an empty text.
func arguments(schema json.RawMessage, path string) string {
	var s struct {
		Properties map[string]struct {
			Type string   `json:"type"`
			Enum []string `json:"enum"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // the server has checked it
	out := object{}
	for name, p := range s.Properties {
		switch {
		case len(p.Enum) > 0:
			out[name] = p.Enum[0]
		case name == "path":
			out[name] = path
		case p.Type == "integer" || p.Type == "number":
			out[name] = 1
		default:
			out[name] = ""
		}
	}
	text, _ := json.Marshal(out) // keys are sorted
	return string(text)
}
