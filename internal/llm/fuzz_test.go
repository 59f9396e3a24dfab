package llm

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzAnswerOfAServer(f *testing.F) {
	f.Add(200, []byte(`{"choices":[{"message":{"content":"{}"}}],"usage":{"cost":"1e3"}}`))
	f.Add(400, []byte(`{"error":{"message":["a"],"code":"x"}}`))
	f.Add(400, []byte(`[{"error":{"message":"temperature tools response_format","metadata":{"raw":"x"}}}]`))
	f.Add(404, []byte(`{"error":{"message":"only supported in v1/responses"}}`))
	f.Add(200, []byte(`{"error":null,"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]}`))
	f.Add(200, []byte(called))
	f.Add(200, []byte(responded))
	f.Add(200, []byte(reasoned))
	f.Add(200, []byte(`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`+
		`,"output":[{"type":"function_call","arguments":{}}],"output_text":"a"}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		status = 200 + int(uint(status)%400)
		for _, path := range []string{"/v1", "/v1/responses"} {
			c, err := New(Options{BaseURL: "http://127.0.0.1" + path, Model: "m",
				HTTP: &http.Client{Transport: canned{status, body}}})
			require.NoError(t, err)
			answer, err := c.Chat(t.Context(), withTools(looked...))
			bounded(t, answer, err)
			if len(answer.ToolCalls) == 0 {
				continue
			}
			turn := Turn{Role: RoleAssistant, Text: answer.Text, ToolCalls: answer.ToolCalls, State: answer.State}
			_, err = c.Chat(t.Context(), withTools(turn))
			require.NoError(t, err, "what came back can be sent back")
		}
	})
}

// bounded holds what is promised of every answer.
func bounded(t *testing.T, a Answer, err error) {
	t.Helper()
	require.True(t, err != nil || strings.TrimSpace(a.Text) != "" || len(a.ToolCalls) > 0)
	if errors.Is(err, ErrEmpty) {
		require.Empty(t, strings.TrimSpace(a.Text))
	}
	ids := map[string]bool{}
	for _, c := range a.ToolCalls {
		require.False(t, ids[c.ID] || c.ID == "", "an id of its own")
		ids[c.ID] = true
	}
	u := a.Usage
	for _, n := range []int64{u.InputTokens, u.CachedTokens, u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens,
		int64(u.Cost)} {
		require.True(t, n >= 0 && n <= 4<<40)
	}
	require.LessOrEqual(t, u.CachedTokens+u.CacheWriteTokens, u.InputTokens)
	require.LessOrEqual(t, u.ReasoningTokens, u.OutputTokens)
}

type canned struct {
	status int
	body   []byte
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.WriteHeader(c.status)
	_, _ = w.Write(c.body)
	res := w.Result()
	res.Request = r
	return res, nil
}
