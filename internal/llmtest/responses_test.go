package llmtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	inlineTool = `"tools":[{"type":"function","name":"read_file","strict":true,"parameters":{"type":"object"` +
		`,"additionalProperties":false,"required":[],"properties":{}}}]`
	question1 = `{"role":"user","content":"u"}`
	sealed    = `"store":false,"include":["reasoning.encrypted_content"],"instructions":"s"`
)

func TestResponsesInputIsHeldAgainstTheAPI(t *testing.T) {
	t.Parallel()
	call := `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`
	output := `{"type":"function_call_output","call_id":"a","output":"x"}`
	reasoning := `{"type":"reasoning","id":"r","summary":[]}`
	for input, want := range map[string]string{
		`[` + question1 + `]`: "",
		`[` + question1 + `,` + reasoning + `,` + call + `,` + output + `]`: "",
		`[` + question1 + `,` + output + `]`:                                "must be a response to",
		`[` + question1 + `,` + call + `]`:                                  "did not have response messages: a",
		`[` + question1 + `,` + call + `,` + question1 +
			`]`: "did not have response messages: a",
		`[` + question1 + `,` + reasoning + `]`: "without its required following item",
		`[` + question1 + `,` + reasoning + `,` + output +
			`]`: "without its required following item",
		`[{"type":"message","role":"assistant","content":"x"}]`:                    "one user message",
		`[` + question1 + `,{"role":"system","content":"x"}]`:                      "no other instructions",
		`[{"type":"input_image"}]`:                                                 "input.0.type",
		`[{"role":"user","content":[{"type":"text","text":"u"}]}]`:                 "input.0.content",
		`[{"role":"user","content":"u","tool_calls":[]}]`:                          "tool_calls",
		`[` + question1 + `,{"type":"function_call","name":"f","arguments":"{}"}]`: "Missing required parameter",
		`[` + question1 + `,{"type":"reasoning","summary":[]}]`:                    "Missing required parameter",
	} {
		status, answer := exchange(serve(Responses, Honest), "/v1/responses", chat(`"instructions":"s","input":`+input),
			nil)
		require.Equal(t, want == "", status == http.StatusOK, "%s: %s", input, answer)
		require.Contains(t, answer, want)
	}
	for field, want := range map[string]string{
		`"seed":1`: "Unknown parameter: 'seed'", `"max_tokens":16`: "Unknown parameter",
		`"max_output_tokens":15`:           "max_output_tokens",
		`"temperature":0`:                  "Unsupported value: 'temperature'",
		`"reasoning":{"effort":"extreme"}`: "allowed values",
		`"text":{"format":{"type":"xml"}}`: "allowed values",
		`"text":{"format":{"type":"json_schema","name":"n","strict":true` +
			`,"schema":{"type":"object"}}}`: "'additionalProperties' is required",
		`"tools":[{"type":"function","function":{"name":"f"}}]`: "function",
	} {
		status, answer := exchange(serve(Responses, Honest), "/v1/responses",
			chat(`"instructions":"s","input":[`+question1+`]`, field), nil)
		require.Equal(t, http.StatusBadRequest, status, field)
		require.Contains(t, answer, want)
	}
}

type output struct {
	Output []json.RawMessage `json:"output"`
	Status string            `json:"status"`
}

// look asks a reasoning model that calls a tool, and returns its output's items.
func look(t *testing.T, s *Server, options string) []string {
	t.Helper()
	status, answer := exchange(s, "/v1/responses", chat(options, inlineTool, `"input":[`+question1+`]`), nil)
	require.Equal(t, http.StatusOK, status, answer)
	var got output
	require.NoError(t, json.Unmarshal([]byte(answer), &got))
	require.Len(t, got.Output, 2)
	return []string{string(got.Output[0]), string(got.Output[1])}
}

func TestReasoningComesBackBeforeItsCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options string
		change  func(reasoning string) string
		want    string
	}{
		"as it came": {sealed, func(r string) string { return r + "," }, ""},
		"missing":    {sealed, func(string) string { return "" }, "without its required 'reasoning' item: 'rs_"},
		"another": {sealed, func(r string) string {
			return strings.Replace(r, "rs_", "rs_x", 1) + ","
		}, "without its required 'reasoning' item"},
		"broken": {sealed, func(r string) string {
			return strings.Replace(r, "gAAAA", "gAAAAx", 1) + ","
		}, "could not be verified"},
		"not included": {`"store":false,"instructions":"s"`, func(r string) string {
			return r + ","
		}, "Items are not persisted"},
		"kept by server": {`"instructions":"s"`, func(r string) string { return r + "," }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(Responses, Curious(Honest))
			items := look(t, s, c.options)
			var call struct {
				CallID string `json:"call_id"`
			}
			require.NoError(t, json.Unmarshal([]byte(items[1]), &call))
			input := `"input":[` + question1 + `,` + c.change(items[0]) + items[1] +
				`,{"type":"function_call_output","call_id":"` + call.CallID + `","output":"x"}]`
			status, answer := exchange(s, "/v1/responses", chat(c.options, inlineTool, input), nil)
			require.Equal(t, c.want == "", status == http.StatusOK, answer)
			require.Contains(t, answer, c.want)
			if c.want != "" {
				return
			}
			asked := s.Requests()[1]
			require.Equal(t, ResponsesAPI, asked.Interface)
			require.Equal(t, []string{"assistant", "tool"}, []string{asked.Turns[0].Role, asked.Turns[1].Role})
			require.Equal(t, "read_file", asked.Turns[0].Calls[0].Name)
			require.Equal(t, call.CallID, asked.Turns[1].CallID)
			require.NotEmpty(t, asked.Turns[0].Thought)
		})
	}
}

func TestResponsesSayHowTheyEnded(t *testing.T) {
	t.Parallel()
	for finish, want := range map[string]string{
		"": `"status":"completed"`, "length": `"incomplete_details":{"reason":"max_output_tokens"}`,
		"content_filter": `"incomplete_details":{"reason":"content_filter"}`,
	} {
		_, answer := exchange(serve(Responses, Always(Answer{Text: "x", Finish: finish, Reasoning: 7})),
			"/v1/responses", chat(`"instructions":"s","input":[`+question1+`]`), nil)
		require.Contains(t, answer, want)
		require.Contains(t, answer, `"output_tokens_details":{"reasoning_tokens":7}`)
	}
	_, answer := exchange(serve(Responses, Always(Answer{Refusal: "no"})), "/v1/responses",
		chat(`"instructions":"s","input":[`+question1+`]`), nil)
	require.Contains(t, answer, `{"refusal":"no","type":"refusal"}`)
}
