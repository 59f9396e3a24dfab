package llmtest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// exchange sends a body to a server without a network.
func exchange(s *Server, path, body string, header http.Header) (int, string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header = header.Clone()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func serve(k Kind, script Script) *Server {
	s := New(script)
	As(k)(s)
	s.Delay = 0
	return s
}

const (
	strictTool = `{"type":"function","function":{"name":"read_file","parameters":{"type":"object"` +
		`,"additionalProperties":false,"required":["path"],"properties":{"path":{"type":"string"}}}}}`
	jsonMode   = `"response_format":{"type":"json_object"}`
	strictMode = `"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true` +
		`,"schema":{"type":"object","additionalProperties":false,"required":[],"properties":{}}}}`
)

func chat(parts ...string) string {
	return `{"model":"m",` + strings.Join(parts, ",") + `}`
}

func TestEveryCallIsAnsweredBeforeTheNextTurn(t *testing.T) {
	t.Parallel()
	const (
		first = `{"role":"system","content":"s"},{"role":"user","content":"u"}`
		calls = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f"` +
			`,"arguments":"{"}},{"id":"b","type":"function","function":{"name":"f","arguments":""}}]}`
		a    = `{"role":"tool","tool_call_id":"a","content":"x"}`
		b    = `{"role":"tool","tool_call_id":"b","content":""}`
		user = `{"role":"user","content":"u"}`
	)
	for turns, want := range map[string]string{
		calls + "," + a + "," + b:                          "",
		calls + "," + b + "," + a + "," + user:             "",
		calls + "," + a:                                    "did not have response messages: b",
		calls + "," + user + "," + a + "," + b:             "did not have response messages: a, b",
		calls + "," + a + "," + a:                          "must be a response to a preceeding message",
		a:                                                  "must be a response to a preceeding message",
		calls:                                              "did not have response messages",
		`{"role":"assistant","content":"x"}`:               "Expected last role",
		`{"role":"tool","content":"x"}`:                    "tool_call_id",
		`{"role":"tool","tool_call_id":"a"}`:               "content",
		`{"role":"user","content":""}`:                     "empty content",
		`{"role":"assistant","content":""},` + user:        "empty content",
		`{"role":"robot","content":"x"}`:                   "messages.2.role",
		`{"role":"system","content":"x"}`:                  "stands first",
		`{"role":"user","content":"x","tool_call_id":"a"}`: "Additional properties",
		`{"role":"user","content":"x","state":{}}`:         "state",
		`{"role":"assistant","content":"x","reasoning_content":"y"},` +
			user: "reasoning_content",
		`{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f"` +
			`,"arguments":""}}]}`: `property \"id\" is missing`,
		`{"role":"user","content":[{"type":"image_url","text":"x"}]}`: "messages.2.content",
	} {
		status, answer := exchange(serve(Strict, Honest), "/v1/chat/completions",
			chat(`"messages":[`+first+`,`+turns+`]`), nil)
		if want == "" {
			require.Equal(t, http.StatusOK, status, "%s: %s", turns, answer)
			continue
		}
		require.Equal(t, http.StatusBadRequest, status, turns)
		require.Contains(t, answer, want)
	}
}

func TestToolsAreHeldAgainstTheAPI(t *testing.T) {
	t.Parallel()
	tool := func(from, to string) string { return `"tools":[` + strings.ReplaceAll(strictTool, from, to) + `]` }
	for tools, want := range map[string]string{
		tool("", ""): "",
		`"tools":[` + strictTool + `,` + strictTool + `]`: "must be unique",
		`"tools":[]`:                                                 "minimum number of items",
		`"tool_choice":"auto"`:                                       "only allowed when 'tools'",
		tool("read_file", "read file"):                               "tools.0.function.name",
		tool("read_file", strings.Repeat("x", 65)):                   "tools.0.function.name",
		tool(`"required":["path"],`, ""):                             "every key in properties: path",
		tool(`false`, `true`):                                        "additionalProperties",
		tool(`{"type":"string"}`, `{"type":"string","minLength":1}`): "minLength",
		tool(`{"type":"string"}`, `{"description":"x"}`):             "must have a 'type' key",
		tool(`"string"`, `["string","null"]`):                        "",
		tool(`{"type":"string"}`, `{"$ref":"#/$defs/x"}`):            "must have a 'type' key",
		tool(`{"type":"string"}`, `{"type":"array"}`):                "missing items",
		tool(`"type":"function",`, `"type":"custom",`):               "tools.0.type",
	} {
		s := serve(Strict, Honest)
		status, answer := exchange(s, "/v1/chat/completions", chat(messages, tools), nil)
		if want == "" {
			require.Equal(t, http.StatusOK, status, "%s: %s", tools, answer)
			require.Equal(t, "read_file", s.Requests()[0].Tools[0].Name)
			continue
		}
		require.Equal(t, http.StatusBadRequest, status, tools)
		require.Contains(t, answer, want)
		require.Len(t, s.Refusals(), 1)
	}
}

func TestKindsRefuseWhatTheyDoNotTakeInTheWordsOfRealServers(t *testing.T) {
	t.Parallel()
	const tools = `"tools":[` + strictTool + `]`
	named := strings.Replace(messages, `"content":"s"`, `"content":"JSON"`, 1)
	const azure = "/openai/deployments/x/chat/completions?api-version=1"
	for name, c := range map[string]struct {
		kind       Kind
		path, body string
		want       string
	}{
		"strict takes all": {Strict, "/v1/chat/completions",
			chat(messages, tools, strictMode, `"max_completion_tokens":5`), ""},
		"strict, two limits": {Strict, "/v1/chat/completions",
			chat(messages, `"max_tokens":1,"max_completion_tokens":1`), "at the same time"},
		"JSON mode, a schema": {JSONMode, "/v1/chat/completions", chat(messages, strictMode),
			"'json_schema' is not supported"},
		"JSON mode, unnamed": {JSONMode, "/v1/chat/completions", chat(messages, jsonMode),
			"must contain the word 'json'"},
		"JSON mode": {JSONMode, "/v1/chat/completions", chat(named, jsonMode), ""},
		"JSON mode beside tools": {JSONMode, "/v1/chat/completions", chat(named, jsonMode, tools),
			"cannot be combined"},
		"JSON mode has no Responses": {JSONMode, "/v1/responses", chat(`"input":"u"`), "Invalid URL"},
		"plain":                      {Plain, "/v1/chat/completions", chat(messages, `"max_tokens":5`), ""},
		"plain, tools":               {Plain, "/v1/chat/completions", chat(messages, tools), "does not support tools"},
		"plain, a format": {Plain, "/v1/chat/completions", chat(messages, jsonMode),
			"'response_format'), 'msg': 'Extra inputs are not permitted'"},
		"plain, the new limit": {Plain, "/v1/chat/completions", chat(messages, `"max_completion_tokens":5`),
			"Extra inputs"},
		"plain, an effort": {Plain, "/v1/chat/completions", chat(messages, `"reasoning_effort":"low"`),
			"Extra inputs"},
		"plain, two users": {Plain, "/v1/chat/completions",
			chat(strings.Replace(messages, `]`, `,{"role":"user","content":"x"}]`, 1)), "must alternate"},
		"azure":             {Azure, azure, `{` + messages + `}`, ""},
		"azure, v1":         {Azure, "/openai/v1/chat/completions", chat(messages), ""},
		"azure, no version": {Azure, "/openai/deployments/x/chat/completions", chat(messages), "Resource not found"},
		"azure, the new limit": {Azure, azure, chat(messages, `"max_completion_tokens":5`),
			"Unrecognized request argument supplied: max_completion_tokens"},
		"Responses alone": {Responses, "/v1/chat/completions", chat(messages), "only supported in v1/responses"},
	} {
		status, answer := exchange(serve(c.kind, Honest), c.path, c.body, http.Header{})
		require.Equal(t, c.want == "", status == http.StatusOK, "%s: %s", name, answer)
		require.Contains(t, answer, c.want, name)
	}
}

func TestReasoningModelsAndKeysAreHeldAgainstTheAPI(t *testing.T) {
	t.Parallel()
	s := serve(Strict, Honest)
	s.NoTemperature = true
	for field, want := range map[string]string{
		`"temperature":0.2`:            "Only the default (1) value is supported",
		`"reasoning_effort":"extreme"`: "allowed values",
		`"unheard":1`:                  "Unknown parameter: 'unheard'.",
	} {
		status, answer := exchange(s, "/v1/chat/completions", chat(messages, field), nil)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, answer, want)
	}
	for name, c := range map[string]struct {
		kind   Kind
		header http.Header
		status int
	}{
		"bearer":             {Strict, http.Header{"Authorization": {"Bearer k"}}, http.StatusOK},
		"another bearer":     {Strict, http.Header{"Authorization": {"Bearer j"}}, http.StatusUnauthorized},
		"azure":              {Azure, http.Header{"Api-Key": {"k"}}, http.StatusOK},
		"azure, another key": {Azure, http.Header{"Api-Key": {"j"}}, http.StatusUnauthorized},
		"azure, a bearer beside": {Azure, http.Header{"Api-Key": {"k"}, "Authorization": {"Bearer k"}},
			http.StatusUnauthorized},
	} {
		s := serve(c.kind, Honest)
		s.Key = "k"
		path, _, _ := strings.Cut(s.Base(), "?")
		status, answer := exchange(s, path+"/chat/completions?api-version=1", chat(messages), c.header)
		require.Equal(t, c.status, status, "%s: %s", name, answer)
	}
}
