package llmtest

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"

	strict "github.com/go-json-experiment/json"
)

// Request is one request as a script sees it.
type Request struct {
	Interface   string // Chat or ResponsesAPI
	Model       string
	System      string // the first turn
	User        string // the second turn
	Turns       []Turn // what followed these two
	Tools       []Tool // that are offered
	Format      string // response_format's type; empty for none
	Schema      json.RawMessage
	MaxTokens   int
	Temperature *float64 // nil where none was sent
	Effort      string
	Fields      map[string]json.RawMessage // the body's top level, as sent

	Question string // review, verify, classify or judge
	Judge    string // the key under which a judge is asked for true or false
	Path     string // of the file that the user turn is about
	Lines    []Line // of its diff
	Repair   bool   // asks for a broken answer again; holds no diff
	Try      int    // counts, from 1, the requests of that question about that path, or a judge's by key
}

// Turn is one message of a conversation behind the first two.
type Turn struct {
	Role    string // user, assistant or tool
	Text    string
	Calls   []Call // of an assistant
	CallID  string // of a tool: the call that it answers
	Thought string // reasoning that came back with an assistant's turn
}

// Call is one call of a tool.
type Call struct{ ID, Name, Arguments string }

// Tool is one function that a model may call.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
}

// body is the top level of a request.
type body map[string]json.RawMessage

// into reads a field where it is set. Unknown members in it are an error.
func (b body) into(name string, to any) *refusal {
	raw, ok := b[name]
	if !ok {
		return nil
	}
	if err := strict.Unmarshal(raw, to, strict.RejectUnknownMembers(true)); err != nil {
		return invalid("Invalid value for '%s': %v", name, err).at(name)
	}
	return nil
}

// only refuses a field that the list has not.
func (b body) only(known []string) *refusal {
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if !slices.Contains(known, name) {
			return invalid("Unknown parameter: '%s'.", name).at(name).coded("unknown_parameter")
		}
	}
	return nil
}

func (s *Server) read(r *http.Request) (Request, *refusal) {
	through, refused := s.route(r)
	if refused == nil {
		refused = s.admits(r.Header)
	}
	if refused != nil {
		return Request{}, refused
	}
	raw, err := io.ReadAll(r.Body)
	var fields body
	if err = errors.Join(err, strict.Unmarshal(raw, &fields)); err != nil {
		return Request{}, invalid("We could not parse the JSON body of your request: %v", err)
	}
	out := Request{Interface: through, Fields: fields}
	if through == Chat {
		refused = s.readChat(fields, &out)
	} else {
		refused = s.readResponses(fields, &out)
	}
	if refused != nil {
		return Request{}, refused
	}
	out.Path, out.Lines, out.Repair = understand(out.User)
	out.Judge = judged(out.User)
	out.Question = question(out)
	return out, nil
}

// text reads a text, which the API also takes as a list of parts: this product does
// not write it so.
func text(raw json.RawMessage) (words string, err error) {
	if len(raw) == 0 {
		return "", nil
	}
	err = strict.Unmarshal(raw, &words)
	return words, err
}
