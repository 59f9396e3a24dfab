package llmtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Request is one request as a script sees it.
type Request struct {
	Interface   string // Chat or ResponsesAPI
	Model       string
	System      string // the first turn
	Breakpoint  bool   // it ends with a cache breakpoint
	User        string // the second turn
	Turns       []Turn // the rest of the conversation
	Tools       []Tool // offered to the model
	Format      string // response_format's type; empty for none
	Schema      json.RawMessage
	MaxTokens   int
	Temperature *float64 // nil if none was sent
	Effort      string
	Fields      map[string]any // the body, as sent

	Question string // review, verify, classify or judge
	Judge    string // the boolean key that a judge is asked for
	Path     string // of the file that the user turn is about
	Lines    []Line // of its diff
	Repair   bool   // asks for a broken answer again; contains no diff
	Try      int    // counts, from 1, the requests of that question about that path, or a judge's by key
}

// Turn is one message of a conversation after the first two.
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

// prompt returns all that a model reads, in the order in which it is cached.
func (r Request) prompt() string {
	text, _ := r.turns()
	return text
}

// turns returns the prompt, and where in it its turns end.
func (r Request) turns() (text string, ends []int) {
	var b strings.Builder
	for _, t := range r.Tools {
		b.WriteString(t.Name + t.Description + string(t.Schema))
	}
	b.WriteString(r.System)
	ends = append(ends, b.Len())
	b.WriteString(r.User)
	ends = append(ends, b.Len())
	for _, t := range r.Turns {
		b.WriteString(t.Text + t.Thought)
		for _, c := range t.Calls {
			b.WriteString(c.Name + c.Arguments)
		}
		ends = append(ends, b.Len())
	}
	return b.String(), ends
}

// bytesPerToken is how this server counts tokens.
const bytesPerToken = 4

func (r Request) tokens() int { return len(r.prompt()) / bytesPerToken }

// newID returns an id for a part of an answer: the same for the same request.
func (r Request) newID(prefix string, salt string) string {
	sum := sha256.Sum256([]byte(prefix + salt + "\x00" + r.prompt()))
	return prefix + hex.EncodeToString(sum[:12])
}

type refusal struct {
	status            int
	message           string
	kind, param, code string
	bare              bool // without the error object around it, as vLLM writes it
}

func invalid(format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, kind: "invalid_request_error", message: fmt.Sprintf(format, args...)}
}

func (r *refusal) withStatus(status int) *refusal  { r.status = status; return r }
func (r *refusal) withType(kind string) *refusal   { r.kind = kind; return r }
func (r *refusal) withParam(param string) *refusal { r.param = param; return r }
func (r *refusal) withCode(code string) *refusal   { r.code = code; return r }

func (r *refusal) write(w http.ResponseWriter) {
	said := map[string]any{"message": r.message, "type": orNull(r.kind), "param": orNull(r.param),
		"code": orNull(r.code)}
	var body any = map[string]any{"error": said}
	if r.bare {
		said["object"], said["code"] = "error", r.status
		body = said
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(body) // a client that left does not concern the server
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
