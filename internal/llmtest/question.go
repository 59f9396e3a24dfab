package llmtest

import (
	"encoding/json"
	"slices"
	"strings"
)

// The questions that the product asks a model.
const (
	Review   = "review"
	Verify   = "verify"
	Classify = "classify"
	Judge    = "judge"
)

// Claim is a finding that is to be verified, as the prompt shows it.
type Claim struct {
	ID    string `json:"id"`
	Side  string `json:"side"`
	Line  int    `json:"line"`
	Quote string `json:"quote"`
	Title string `json:"title"`
}

// question tells what is asked: by the keys of the answer's schema, and where a
// server takes none by the blocks and the words around them.
func question(r Request) string {
	keys := keysOf(r.Schema)
	has := func(key string) bool { return slices.Contains(keys, key) }
	_, findings := Data(r.User)["findings"]
	switch {
	case r.Judge != "":
		return Judge
	case implementing(has) != "":
		return implementing(has)
	case whole(r, has) != "":
		return whole(r, has)
	case has("verdicts"), findings:
		return Verify
	case has("depth"), len(keys) == 0 && strings.Contains(r.System, "`depth`"):
		return Classify
	}
	return Review
}

// keysOf is the top level of the answer that a schema asks for.
func keysOf(schema json.RawMessage) []string {
	var s struct {
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(schema, &s) // none where there is no schema
	return s.Required
}

// Claims are the findings of a verification question, one JSON object a line.
func Claims(r Request) []Claim {
	var all []Claim
	for line := range strings.Lines(Data(r.User)["findings"]) {
		var c Claim
		if json.Unmarshal([]byte(strings.Trim(line, "[], \t\n")), &c) == nil && c.ID != "" {
			all = append(all, c)
		}
	}
	return all
}

// Verdicts answers a verification question with what holds says of each claim.
func Verdicts(r Request, holds func(Claim) bool) Answer {
	verdicts := []any{}
	for _, c := range Claims(r) {
		verdicts = append(verdicts, object{"id": c.ID, "holds": holds(c), "reason": "A script says so."})
	}
	text, _ := json.Marshal(object{"verdicts": verdicts}) // plain values: it cannot fail
	return Answer{Text: string(text)}
}

// planted reports whether a claim is about an added line that holds Marker.
func planted(lines []Line, c Claim) bool {
	return slices.ContainsFunc(lines, func(l Line) bool {
		return l.Op == '+' && l.New == c.Line && c.Side != "LEFT" && strings.Contains(l.Text, Marker)
	})
}

// Label is the answer to the question how a file is to be read.
func Label(kind, depth string) Answer {
	text, _ := json.Marshal(object{"kind": kind, "depth": depth}) // plain values: it cannot fail
	return Answer{Text: string(text)}
}

// Certain lets a script that knows reviews alone answer them; asked which
// findings hold it says that all do, and files are features.
func Certain(reviewer Script) Script {
	return func(r Request) Answer {
		switch r.Question {
		case Verify:
			return Verdicts(r, func(Claim) bool { return true })
		case Classify:
			return Label("feature", "normal")
		}
		return reviewer(r)
	}
}

// Curious looks around before it answers: where tools are offered and no call of
// one was answered yet, it makes calls, those of Look where none are named. Then
// next answers.
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

// Look is a call of the tool that reads a file, else of the first that is
// offered, with arguments that fit its schema.
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
