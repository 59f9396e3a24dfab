package llmtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFaultsStrikeOneRequestEach(t *testing.T) {
	t.Parallel()
	s := New(Faulty(Always(Answer{Text: "fine"}), Failing(429, "Retry-After: 20"), nil, Page(502),
		Faults()["content-filter"]))
	for _, want := range []struct {
		status int
		text   string
	}{{429, "had an error"}, {200, "fine"}, {502, "<html>"}, {200, `"finish_reason":"content_filter"`}, {200, "fine"}} {
		status, answer := exchange(s, "/v1/chat/completions", chat(messages), nil)
		require.Equal(t, want.status, status)
		require.Contains(t, answer, want.text)
	}
}

func TestFaultsAreWhatTheirNamesSay(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"truncated-json": `"choices":`, "wrong-types": `"index":"0"`, "no-choices": `"choices":[]`,
		"empty":   `"content":""`,
		"refusal": `"refusal":"I'm sorry`, "input-filter": "ResponsibleAIPolicyViolation",
		"length":        `"finish_reason":"length"`,
		"bad-arguments": `"arguments":"{\"path\": \"a.go\", "`, "unknown-tool": "run_shell",
		"endless-calls": `"tool_calls":[`, "huge": strings.Repeat("x", 10<<20),
	} {
		s := New(Constantly(Faults()[name], Always(Answer{Text: "fine words"})))
		_, answer := exchange(s, "/v1/chat/completions", chat(messages), nil)
		require.True(t, strings.Contains(answer, want), name)
		require.Equal(t, name != "truncated-json", json.Valid([]byte(answer)), name)
		_, again := exchange(s, "/v1/chat/completions", chat(messages), nil)
		require.Equal(t, answer, again, "P11: the same request, the same bytes")
	}
	_, answer := exchange(New(Constantly(Faults()["no-usage"], Honest)), "/v1/chat/completions", chat(messages), nil)
	require.NotContains(t, answer, `"usage"`)
}

func TestConnectionsBreakAsTheirFaultsSay(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"drop": "EOF", "reset": "reset by peer"} {
		s := Start(t, Constantly(Faults()[name], Honest))
		_, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(chat(messages)))
		require.ErrorContains(t, err, want)
	}
}
