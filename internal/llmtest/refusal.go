package llmtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"

	strict "github.com/go-json-experiment/json"
)

// refusal is an answer that says no, in the form of OpenAI's errors.
type refusal struct {
	status            int
	message           string
	kind, param, code string
	bare              bool // without the error object around it, as vLLM writes it
}

func invalid(format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, kind: "invalid_request_error", message: fmt.Sprintf(format, args...)}
}

func (r *refusal) as(status int) *refusal     { r.status = status; return r }
func (r *refusal) of(kind string) *refusal    { r.kind = kind; return r }
func (r *refusal) at(param string) *refusal   { r.param = param; return r }
func (r *refusal) coded(code string) *refusal { r.code = code; return r }

// first is the first of the refusals, if there is one.
func first(all ...*refusal) *refusal {
	for _, r := range all {
		if r != nil {
			return r
		}
	}
	return nil
}

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
	_ = json.NewEncoder(w).Encode(body) // a client that left is none of the server's concern
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
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

// text reads a text, which the API also takes as a list of parts: this product does
// not write it so.
func text(raw json.RawMessage) (words string, err error) {
	if len(raw) == 0 {
		return "", nil
	}
	err = strict.Unmarshal(raw, &words)
	return words, err
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
