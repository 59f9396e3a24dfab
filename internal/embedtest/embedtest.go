// Package embedtest is an embedding and reranking server for tests, in the formats of OpenAI, Voyage and Cohere.
//
// It refuses what these would refuse, counts and keeps its requests, and misbehaves on demand. Its vectors are built
// from the words of a text, so that texts with the same words are near: enough to see which text was meant, but no
// measure of a real model's quality. Start reading at Server; Fault lists its misbehaviours.
package embedtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/vector"
)

// Server answers POST /v1/embeddings, /v1/rerank (Voyage's) and /v2/rerank (Cohere's). Start sets its options.
type Server struct {
	URL string // without a path

	Key           string // required; empty accepts any
	Dimensions    int    // of its vectors if a request names none; 64 if zero
	MaxInputs     int    // more are refused; 2,048 if zero
	MaxBytes      int    // of a request; more are refused with 413; 0 for no bound
	MaxInputBytes int    // of a text; more are refused; 0 for no bound
	Refusal       int    // the status of these refusals; 400 if zero
	Fault         *Fault // what is wrong with its answers; nil for nothing

	mu     sync.Mutex
	calls  []Call
	tokens int64
}

// Call is a request as received.
type Call struct {
	Path      string
	Key       string
	Model     string
	Texts     []string // texts to embed, or the documents
	Query     string   // of a rerank
	InputType string
	Status    int // of the answer
}

// Start listens on a free loopback port until the test ends.
func Start(t testing.TB, options ...func(*Server)) *Server {
	t.Helper()
	s := &Server{}
	for _, set := range options {
		set(s)
	}
	listener := httptest.NewServer(s)
	t.Cleanup(func() {
		listener.CloseClientConnections()
		listener.Close()
	})
	s.URL = listener.URL
	return s
}

// Calls returns the requests so far, in order of arrival.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Texts returns all texts that were embedded successfully.
func (s *Server) Texts() (all []string) {
	for _, c := range s.Calls() {
		if c.Status == http.StatusOK && strings.HasSuffix(c.Path, "/embeddings") {
			all = append(all, c.Texts...)
		}
	}
	return all
}

// Tokens returns the usage that the answers so far reported.
func (s *Server) Tokens() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens
}

type request struct {
	Model string `json:"model"`

	Input           []string `json:"input"`
	Dimensions      int      `json:"dimensions"`       // OpenAI's
	InputType       string   `json:"input_type"`       // Voyage's, like the next
	OutputDimension int      `json:"output_dimension"` // instead of dimensions
	Truncation      bool     `json:"truncation"`

	Query        string   `json:"query"`
	Documents    []string `json:"documents"`
	TopN         int      `json:"top_n"` // Cohere's, like the next
	MaxTokensDoc int      `json:"max_tokens_per_doc"`
	TopK         int      `json:"top_k"` // Voyage's
}

// ServeHTTP answers a request and keeps it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q request
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(&q)
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	status, why := http.StatusOK, ""
	switch {
	case err != nil || r.Method != http.MethodPost:
		status, why = http.StatusBadRequest, fmt.Sprint("this is no request: ", err)
	case s.Key != "" && key != s.Key:
		status, why = http.StatusUnauthorized, "Incorrect API key provided: "+key
	default:
		status, why = s.refusal(r, q)
	}
	s.mu.Lock()
	s.calls = append(s.calls, Call{r.URL.Path, key, q.Model, append(q.Input, q.Documents...), q.Query, q.InputType,
		status})
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case status != http.StatusOK:
		w.WriteHeader(status)
		writeJSON(w, map[string]any{"error": map[string]any{"message": why, "type": "invalid_request_error"}})
	case s.Fault != nil && s.Fault.Answer != nil:
		s.Fault.Answer(w, r)
	case strings.HasSuffix(r.URL.Path, "/rerank"):
		s.rerank(w, r.URL.Path, q)
	default:
		s.embed(w, q)
	}
}

func writeJSON(w http.ResponseWriter, answer any) { _ = json.NewEncoder(w).Encode(answer) } // the client may have gone

func (s *Server) refusal(r *http.Request, q request) (int, string) {
	most := cmp.Or(s.MaxInputs, 2_048)
	long := func(text string) bool { return s.MaxInputBytes > 0 && len(text) > s.MaxInputBytes }
	switch {
	case r.URL.Path == "/v2/rerank" && q.TopN > 0, r.URL.Path == "/v1/rerank" && q.TopK > 0:
		if q.Query == "" || len(q.Documents) == 0 || q.Input != nil {
			return http.StatusBadRequest, "query and documents are required"
		}
	case !strings.HasSuffix(r.URL.Path, "/embeddings"):
		return http.StatusNotFound, "no such route"
	case len(q.Input) == 0 || slices.Contains(q.Input, "") || len(q.Input) > most || slices.ContainsFunc(q.Input, long):
		if s.Refusal == http.StatusInternalServerError {
			return s.Refusal, "input (999 tokens) is too large to process"
		}
		return cmp.Or(s.Refusal, http.StatusBadRequest), "'$.input' is invalid"
	case q.Dimensions > 0 && q.InputType != "" || q.OutputDimension > 0 && q.InputType == "":
		return http.StatusBadRequest, "fields of two kinds of servers"
	}
	if s.MaxBytes > 0 && len(strings.Join(q.Input, "")) > s.MaxBytes {
		return http.StatusRequestEntityTooLarge, "too many tokens"
	}
	return http.StatusOK, ""
}

// Vector returns the server's vector for a text: a count of its words, each at its own index.
func Vector(text string, dimensions int) []float32 {
	v := make([]float32, dimensions)
	for _, token := range chunk.Tokens(text) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(token)) // a hash accepts anything
		v[int(h.Sum32())%dimensions]++
	}
	if !vector.Normalize(v) {
		v[0] = 1
	}
	return v
}

func tokens(texts []string) (n int64) {
	for _, t := range texts {
		n += int64(len(t)/4 + 1)
	}
	return n
}

func (s *Server) count(n int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens += n
	return n
}

func (s *Server) embed(w http.ResponseWriter, q request) {
	dimensions := cmp.Or(max(q.Dimensions, q.OutputDimension), s.Dimensions, 64)
	rows := make([]map[string]any, len(q.Input))
	for i, text := range q.Input {
		rows[len(rows)-1-i] = map[string]any{"index": i, "embedding": Vector(text, dimensions)} // no order is promised
	}
	rows = s.Fault.rows(rows)
	used := s.count(tokens(q.Input))
	writeJSON(w, map[string]any{"object": "list", "data": rows, "model": q.Model,
		"usage": map[string]any{"prompt_tokens": used, "total_tokens": used}})
}

func (s *Server) rerank(w http.ResponseWriter, path string, q request) {
	const dimensions = 4_096
	query := Vector(q.Query, dimensions)
	rows := make([]map[string]any, len(q.Documents))
	for i, d := range q.Documents {
		rows[len(rows)-1-i] = map[string]any{"index": i, "relevance_score": vector.Dot(query, Vector(d, dimensions))}
	}
	rows = s.Fault.rows(rows)
	used := s.count(tokens(append(slices.Clone(q.Documents), q.Query)))
	if path == "/v2/rerank" {
		writeJSON(w, map[string]any{"id": "1", "results": rows,
			"meta": map[string]any{"billed_units": map[string]any{"search_units": 1}}})
		return
	}
	writeJSON(w, map[string]any{"object": "list", "data": rows, "model": q.Model,
		"usage": map[string]any{"total_tokens": used}})
}

// Fault is what is wrong with a server's answers. Each field may be nil.
type Fault struct {
	Answer func(http.ResponseWriter, *http.Request)              // answers in place of the server
	Rows   func(rows []map[string]any) (others []map[string]any) // replaces the rows of an answer
}

func (f *Fault) rows(rows []map[string]any) []map[string]any {
	if f == nil || f.Rows == nil {
		return rows
	}
	return f.Rows(rows)
}

// Unauthorized refuses the key, and echoes it.
var Unauthorized = &Fault{Answer: func(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusUnauthorized)
	fmt.Fprintf(w, `{"error":{"message":"the key %s is not valid"}}`, r.Header.Get("Authorization"))
}}

// WrongLength returns vectors of another dimension than requested.
var WrongLength = Vectors(func(v []float32) any { return v[:len(v)-1] })

// Vectors returns a fault that changes each vector.
func Vectors(change func([]float32) any) *Fault {
	return &Fault{Rows: func(rows []map[string]any) []map[string]any {
		for _, row := range rows {
			if v, embedded := row["embedding"].([]float32); embedded {
				row["embedding"] = change(v)
			}
		}
		return rows
	}}
}
