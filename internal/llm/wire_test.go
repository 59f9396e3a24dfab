package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/transport"
)

// reply is one answer of a wire: a status, 200 where it is 0, and a body.
type reply struct {
	status int
	body   string
}

// sent is one request as it came over the wire.
type sent struct {
	path, query string
	header      http.Header
	raw         string
	body        map[string]any
}

// wire is a server that answers with its replies in turn, the last one again and
// again, and keeps what it was sent. It holds nothing against any rule.
type wire struct {
	URL string

	mu      sync.Mutex
	replies []reply
	asked   []sent
}

func serve(t *testing.T, replies ...reply) *wire {
	t.Helper()
	w := &wire{replies: replies}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.URL = server.URL
	return w
}

func (w *wire) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	s := sent{path: r.URL.Path, query: r.URL.RawQuery, header: r.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &s.body)
	w.mu.Lock()
	defer w.mu.Unlock()
	answer := w.replies[min(len(w.asked), len(w.replies)-1)]
	w.asked = append(w.asked, s)
	out.Header().Set("Content-Type", "application/json")
	if answer.status != 0 {
		out.WriteHeader(answer.status)
	}
	_, _ = io.WriteString(out, answer.body)
}

// requests is what was sent so far.
func (w *wire) requests() []sent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]sent(nil), w.asked...)
}

// last is the newest request.
func (w *wire) last() sent {
	asked := w.requests()
	return asked[len(asked)-1]
}

// to is a client of a wire.
func to(t *testing.T, w *wire, change ...func(*Options)) *Client {
	t.Helper()
	o := Options{BaseURL: w.URL + "/v1", Key: "sk-secret-value", Model: "m",
		HTTP: transport.New(transport.Options{Tries: 1})}
	for _, set := range change {
		set(&o)
	}
	c, err := New(o)
	require.NoError(t, err)
	return c
}

func model(name string) func(*Options) { return func(o *Options) { o.Model = name } }

const (
	said = `{"model":"m-2","choices":[{"message":{"content":"{\"x\":\"y\"}"},"finish_reason":"stop"}]` +
		`,"usage":{"prompt_tokens":10,"completion_tokens":3}}`
	responded = `{"model":"m-2","status":"completed","output":[{"type":"message","role":"assistant"` +
		`,"content":[{"type":"output_text","text":"{\"x\":\"y\"}"}]}],"usage":{"input_tokens":10,"output_tokens":3}}`
)

// look is a tool, and looked a conversation in which it was used.
var (
	look   = Tool{Name: "look", Description: "Looks.", Schema: json.RawMessage(schema)}
	looked = []Turn{
		{Role: RoleAssistant, ToolCalls: []Call{{ID: "c1", Name: "look", Arguments: `{"x":"a"}`}}},
		{Role: RoleTool, CallID: "c1", Text: "seen"},
	}
)

// withTools is the question with a tool offered.
func withTools(turns ...Turn) Request {
	r := question
	r.Tools, r.Turns = []Tool{look}, turns
	return r
}

func ptr[T any](v T) *T { return &v }
