package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
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
