package llm

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
)

const reasoned = `{"model":"m-2","status":"completed","output":[
	{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},
	{"type":"function_call","id":"fc_1","call_id":"c1","name":"look","arguments":"{\"x\":\"a\"}","status":"completed"},
	{"type":"function_call","id":"fc_2","call_id":"c2","name":"look","arguments":"{}","status":"completed"},
	{"type":"web_search_call","id":"ws_1"}],
	"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":40,"cache_write_tokens":7},"output_tokens":30,
	"output_tokens_details":{"reasoning_tokens":20}}}`

// onResponses is a client that knows that its model is served by Responses.
func onResponses(t *testing.T, w *wire, change ...func(*Options)) *Client {
	t.Helper()
	return to(t, w, append(change, func(o *Options) { o.BaseURL = w.URL + "/v1/responses" })...)
}

func TestModelOfTheResponsesInterfaceIsFoundAndRemembered(t *testing.T) {
	t.Parallel()
	for words, status := range map[string]int{
		`{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions."` +
			`,"param":"model"}}`: 404,
		`{"error":{"message":"This is not a chat model and thus not supported in the v1/chat/completions endpoint.` +
			` Did you mean to use v1/completions?"}}`: 404,
		`{"error":{"message":"Function tools with reasoning_effort are not supported for m in /v1/chat/completions.` +
			` Please use /v1/responses instead.","param":"reasoning_effort"}}`: 400,
		`{"error":{"code":"OperationNotSupported","message":"The chatCompletion operation does not work with the` +
			` specified model, m. Please choose different model and try again."}}`: 400,
		`{"error":{"message":"Unsupported legacy protocol: /v1/chat/completions is not supported. Please use` +
			` /v1/responses.","type":"invalid_request_error"}}`: 400,
		`{"detail":"Use the Responses API for this model"}`:                                                        422,
		`{"error":{"message":"The model 'openai.gpt-5.6-terra' does not support the '/v1/chat/completions' API"}}`: 400,
	} {
		w := serve(t, reply{status, words}, reply{body: responded})
		c := to(t, w, model("gpt-5.4"))
		for range 2 {
			answer, err := c.Chat(t.Context(), withTools())
			require.NoError(t, err, words)
			require.Equal(t, `{"x":"y"}`, answer.Text)
			require.Equal(t, "stop", answer.Finish)
		}
		var paths []string
		for _, s := range w.requests() {
			paths = append(paths, s.path)
		}
		require.Equal(t, []string{"/v1/chat/completions", "/v1/responses", "/v1/responses"}, paths)
	}
}

func TestResponsesRequestHoldsWhatAChatCompletionWould(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: responded})
	c := onResponses(t, w, func(o *Options) { o.Effort, o.Temperature, o.Seed = "low", ptr(0.25), ptr(7) })
	_, err := c.Chat(t.Context(), withTools(looked...))
	require.NoError(t, err)
	require.JSONEq(t, `{"model":"m","instructions":"s","store":false,"include":["reasoning.encrypted_content"],
		"reasoning":{"effort":"low"},"max_output_tokens":100,"temperature":0.25,
		"text":{"format":{"type":"json_schema","name":"n","strict":true,"schema":`+schema+`}},
		"tools":[{"type":"function","name":"look","description":"Looks.","strict":true,"parameters":`+schema+`}],
		"input":[{"role":"user","content":"u"},
			{"type":"function_call","call_id":"c1","name":"look","arguments":"{\"x\":\"a\"}"},
			{"type":"function_call_output","call_id":"c1","output":"seen"}]}`, w.last().raw)
}

func TestReasoningGoesBackWithTheResultsAndUnansweredCallsDoNot(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: reasoned}, reply{body: responded})
	c := onResponses(t, w)
	answer, err := c.Chat(t.Context(), withTools())
	require.NoError(t, err)
	require.Equal(t, "tool_calls", answer.Finish)
	require.Equal(t, cost.Usage{InputTokens: 100, CachedTokens: 40, CacheWriteTokens: 7, OutputTokens: 30,
		ReasoningTokens: 20, Calls: 1}, answer.Usage)
	require.JSONEq(t, `[{"role":"user","content":"u"},
		{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},
		{"type":"function_call","id":"fc_1","call_id":"c1","name":"look","arguments":"{\"x\":\"a\"}",
		"status":"completed"},
		{"type":"function_call_output","call_id":"c1","output":"seen"}]`, inputAfter(t, c, w, answer))
}

func TestStatesOfChatCompletionsAreWrittenAnewForResponses(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: responded})
	turn := looked[0]
	turn.Text, turn.State = "let me look", json.RawMessage(`{"reasoning_content":"hm"}`)
	_, err := onResponses(t, w).Chat(t.Context(), withTools(turn, looked[1], Turn{Role: RoleAssistant}))
	require.NoError(t, err)
	input, err := json.Marshal(w.last().body["input"])
	require.NoError(t, err)
	require.JSONEq(t, `[{"role":"user","content":"u"},{"role":"assistant","content":"let me look"},
		{"type":"function_call","call_id":"c1","name":"look","arguments":"{\"x\":\"a\"}"},
		{"type":"function_call_output","call_id":"c1","output":"seen"},{"role":"assistant",
		"content":"(empty)"}]`, string(input))
}

func TestT37_AnswersOfResponsesThatAreNoneAreTypedErrors(t *testing.T) {
	t.Parallel()
	const half = `"output":[{"type":"message","content":[{"type":"output_text","text":"{\"x\":"}]}]`
	for body, want := range map[string]error{
		`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},` + half +
			`}`: ErrTruncated,
		`{"status":"incomplete","incomplete_details":{"reason":"content_filter"},` + half +
			`}`: ErrRefused,
		`{"status":"completed","output":[{"type":"message","content":[{"type":"refusal"` +
			`,"refusal":"no"}]}]}`: ErrRefused,
		`{"status":"completed","output":[]}`:                     ErrEmpty,
		`{"status":"completed","output":[{"type":"reasoning"}]}`: ErrEmpty,
		`{"status":"completed","output":[7]}`:                    ErrEmpty,
		`{"status":"completed","output":"none"}`:                 ErrNotChat,
		`{"status":"completed"}`:                                 ErrNotChat,
	} {
		answer, err := onResponses(t, serve(t, reply{body: body})).Chat(t.Context(), question)
		require.ErrorIs(t, err, want, body)
		require.EqualValues(t, 1, answer.Usage.Calls, "it is billed")
	}
}

func TestFailedResponseSaysSoAndWhatItUsed(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: `{"status":"failed","error":{"code":"server_error","message":"it broke"},"output":[]` +
		`,"usage":{"input_tokens":9}}`})
	answer, err := onResponses(t, w).Chat(t.Context(), question)
	var e *StatusError
	require.ErrorAs(t, err, &e)
	require.Equal(t, 500, e.Code)
	require.Equal(t, cost.Usage{InputTokens: 9, Calls: 1}, answer.Usage)
}

func TestTheHighestEffortIsKeptWhereResponsesAloneTakesIt(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{400, `{"error":{"message":"Unsupported value: 'reasoning_effort' does not support 'max' with` +
		` this model. Supported values are: 'none', 'low', 'medium', 'high', and 'xhigh'."}}`},
		reply{body: responded})
	_, err := to(t, w, model("gpt-6-luna"), func(o *Options) { o.Effort = "max" }).Chat(t.Context(), question)
	require.NoError(t, err)
	require.Equal(t, "/v1/responses", w.last().path)
	require.Equal(t, map[string]any{"effort": "max"}, w.last().body["reasoning"])
}

func TestServerWithoutResponsesIsAskedWithoutReasoning(t *testing.T) {
	t.Parallel()
	for _, lacks := range []reply{{404, `{"detail":"Not Found"}`},
		{400, `{"error":{"code":"BadRequest","message":"Azure OpenAI Responses API is enabled only for api-version` +
			` 2025-03-01-preview and later"}}`}} {
		w := serve(t,
			reply{400, `{"error":{"message":"Function tools with reasoning_effort are not supported for m in` +
				` /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to` +
				` 'none'."}}`},
			lacks, reply{body: called})
		c := to(t, w, model("gpt-5.6-terra"))
		_, err := c.Chat(t.Context(), withTools())
		require.NoError(t, err)
		require.Equal(t, "/v1/chat/completions", w.last().path)
		require.Equal(t, "none", w.last().body["reasoning_effort"])
		_, err = c.Chat(t.Context(), question)
		require.ErrorIs(t, err, ErrEmpty)
		require.Equal(t, "medium", w.last().body["reasoning_effort"], "without tools it may reason")
	}
}

func TestReasoningThatAnotherServerSealedIsLeftOut(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: reasoned}, reply{400, `{"error":{"message":"The encrypted content gAAA...wXBV could not` +
		` be verified.","code":"invalid_encrypted_content"}}`}, reply{body: responded})
	c := onResponses(t, w)
	answer, err := c.Chat(t.Context(), withTools())
	require.NoError(t, err)
	require.JSONEq(t, `[{"role":"user","content":"u"},
		{"type":"function_call","call_id":"c1","name":"look","arguments":"{\"x\":\"a\"}"},
		{"type":"function_call_output","call_id":"c1","output":"seen"}]`, inputAfter(t, c, w, answer))
}

// inputAfter sends an answer's first call back with its result, and returns the input of that request.
func inputAfter(t *testing.T, c *Client, w *wire, answer Answer) string {
	t.Helper()
	_, err := c.Chat(t.Context(), withTools(Turn{Role: RoleAssistant, ToolCalls: answer.ToolCalls[:1],
		State: answer.State}, looked[1]))
	require.NoError(t, err)
	input, err := json.Marshal(w.last().body["input"])
	require.NoError(t, err)
	return string(input)
}
