package llm

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/transport"
)

// The tests of this file hold what go-openai v1.43.0 would do to us: each shows
// the library's way first, so that a later version that fixes it is noticed.

func TestTrapLibraryDropsZeros(t *testing.T) {
	t.Parallel()
	written, err := json.Marshal(openai.ChatCompletionRequest{Temperature: 0})
	require.NoError(t, err)
	require.NotContains(t, string(written), "temperature")

	w := serve(t, reply{body: said})
	_, err = to(t, w, func(o *Options) { o.Temperature, o.Seed = ptr(0.), ptr(0) }).Chat(t.Context(), question)
	require.NoError(t, err)
	require.InDelta(t, 0, w.last().body["temperature"], 1e-5)
	require.EqualValues(t, 0, w.last().body["seed"])
}

func TestTrapLibraryRefusesByTheModelsName(t *testing.T) {
	t.Parallel()
	require.Error(t, openai.NewReasoningValidator().Validate(openai.ChatCompletionRequest{Model: "gpt-5-of-ours",
		Temperature: 0.5}))
	require.Error(t, openai.NewReasoningValidator().Validate(openai.ChatCompletionRequest{Model: "o3-of-ours",
		//lint:ignore SA1019 other servers take nothing else
		MaxTokens: 5}))

	w := serve(t, reply{400, `{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens"}}`},
		reply{body: said})
	_, err := to(t, w, model("gpt-5-of-ours"), func(o *Options) {
		o.Temperature = ptr(0.5)
	}).Chat(t.Context(), question)
	require.NoError(t, err, "the name is a gateway's alias: the server knows what it takes")
	require.InDelta(t, 0.5, w.last().body["temperature"], 0)
	require.EqualValues(t, 100, w.last().body["max_tokens"])
}

func TestTrapTwoOutputLimitsAtOnce(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: said})
	for step, name := range []string{"max_tokens", "max_completion_tokens", ""} {
		c := to(t, w)
		c.dialect.form[length] = step
		_, err := c.Chat(t.Context(), question)
		require.NoError(t, err)
		for _, other := range []string{"max_completion_tokens", "max_tokens"} {
			require.Equal(t, other == name, w.last().body[other] != nil)
		}
	}
}

func TestTrapContentInTextAndPartsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := json.Marshal(openai.ChatCompletionMessage{Content: "a", MultiContent: []openai.ChatMessagePart{}})
	require.ErrorIs(t, err, openai.ErrContentFieldsMisused)

	w := serve(t, reply{body: `{"choices":[{"message":{"content":[{"type":"text","text":"{"},{"type":"text"` +
		`,"text":"}"},{"type":"image_url"}]}}]}`})
	answer, err := to(t, w).Chat(t.Context(), question)
	require.NoError(t, err)
	require.Equal(t, "{}", answer.Text)
}

func TestTrapErrorsLoseBodyAndHeaders(t *testing.T) {
	t.Parallel()
	lost := &openai.APIError{}
	require.Error(t, json.Unmarshal([]byte(`{"code":400,"status":"INVALID_ARGUMENT"}`), lost),
		"an error without a message is none to it")

	for _, body := range []string{`[{"error":{"message":"in a list"}}]`, `{"detail":[{"msg":"in a list"}]}`,
		`{"error":"in a list"}`, `in a list`} {
		_, err := to(t, serve(t, reply{400, body})).Chat(t.Context(), question)
		require.ErrorContains(t, err, "in a list")
	}
	w := http.Header{"Retry-After": {"7"}}
	c, err := New(Options{Model: "m", HTTP: &http.Client{Transport: headed{canned{429, []byte(`{}`)}, w}}})
	require.NoError(t, err)
	_, err = c.Chat(t.Context(), question)
	var e *StatusError
	require.ErrorAs(t, err, &e)
	require.EqualValues(t, 7, e.RetryAfter.Seconds())
}

type headed struct {
	canned
	header http.Header
}

func (h headed) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := h.canned.RoundTrip(r)
	for name, values := range h.header {
		resp.Header[name] = values
	}
	return resp, err
}

func TestTrapAzureModeRewritesNamesAndDropsTheQuery(t *testing.T) {
	t.Parallel()
	require.NotEqual(t, "gpt-3.5", openai.DefaultAzureConfig("k", "https://h").GetAzureDeploymentByModel("gpt-3.5"))

	w := serve(t, reply{body: said})
	_, err := to(t, w, func(o *Options) {
		o.BaseURL = w.URL + "/openai/deployments/gpt-3.5:a?api-version=1&x=2"
	}).Chat(t.Context(), question)
	require.NoError(t, err)
	require.Equal(t, "/openai/deployments/gpt-3.5:a/chat/completions", w.last().path)
	require.Equal(t, "api-version=1&x=2", w.last().query)
}

func TestTrapEmptyTextsAndArgumentsAreLeftOut(t *testing.T) {
	t.Parallel()
	written, err := json.Marshal(openai.ChatCompletionMessage{Role: "tool", ToolCallID: "c"})
	require.NoError(t, err)
	require.NotContains(t, string(written), "content")

	w := serve(t, reply{body: said})
	_, err = to(t, w).Chat(t.Context(), Request{Tools: []Tool{look}, Turns: []Turn{
		{Role: RoleAssistant, ToolCalls: []Call{{ID: "c", Name: "look"}}}, {Role: RoleTool, CallID: "c"},
		{Role: RoleAssistant}, {Role: RoleUser},
	}})
	require.NoError(t, err)
	for i, m := range w.last().body["messages"].([]any) {
		message := m.(map[string]any)
		if message["tool_calls"] == nil {
			require.NotEmpty(t, message["content"], i)
		}
	}
	require.Contains(t, w.last().raw, `"arguments":"{}"`)
}

func TestTrapOneWrongTypeLosesTheWholeAnswer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"created":1.5,"choices":[{"message":{"content":"{}"}}]}`,
		`{"usage":{"prompt_tokens":12.5},"choices":[{"message":{"content":"{}"}}]}`,
		`{"choices":[{"message":{"content":"{}"},"finish_reason":7,"index":"0","content_filter_results":[]}]` +
			`,"service_tier":1}`,
	} {
		require.Error(t, json.Unmarshal([]byte(body), &openai.ChatCompletionResponse{}))
		answer, err := to(t, serve(t, reply{body: body})).Chat(t.Context(), question)
		require.NoError(t, err, body)
		require.Equal(t, "{}", answer.Text)
	}
	w := serve(t, reply{body: `{"choices":[{"message":{"content":null,"tool_calls":[{"id":1` +
		`,"function":{"name":"look","arguments":{"x":"a"}}}]}}]}`})
	answer, err := to(t, w).Chat(t.Context(), withTools())
	require.NoError(t, err)
	require.Equal(t, []Call{{"1", "look", `{"x":"a"}`}}, answer.ToolCalls, "arguments as an object")
}

func TestTrapRefusalWithNullContent(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: `{"choices":[{"message":{"content":null,"refusal":"I cannot"},"finish_reason":"stop"}]}`})
	answer, err := to(t, w).Chat(t.Context(), question)
	require.ErrorIs(t, err, ErrRefused)
	require.Equal(t, "I cannot", answer.Refusal)
}

func TestTrapErrorWithinA200(t *testing.T) {
	t.Parallel()
	for body, code := range map[string]int{
		`{"error":{"message":"overloaded","code":503}}`:                        503,
		`{"error":{"message":"overloaded","code":"rate_limit_exceeded"}}`:      429,
		`{"error":"overloaded"}`:                                               200,
		`{"error":{"message":"overloaded","code":7},"choices":null,"id":null}`: 200,
	} {
		_, err := to(t, serve(t, reply{body: body})).Chat(t.Context(), question)
		var e *StatusError
		require.ErrorAs(t, err, &e, body)
		require.Equal(t, code, e.Code)
		require.ErrorContains(t, err, "overloaded")
	}
}

func TestTrapAnErrorThatSaysNothingIsNone(t *testing.T) {
	t.Parallel()
	for _, said := range []string{`false`, `null`, `""`, `" "`, `{}`, `[]`, `0`, `{"message":""}`,
		`{"message":null,"code":0}`} {
		answer, err := to(t, serve(t, reply{body: `{"error":` + said +
			`,"choices":[{"message":{"content":"{}"}}]}`})).Chat(t.Context(), question)
		require.NoError(t, err, said)
		require.Equal(t, "{}", answer.Text)
	}
	for _, said := range []string{`true`, `1`, `"x"`, `["x"]`, `{"message":"x"}`} {
		_, err := to(t, serve(t, reply{body: `{"error":` + said +
			`,"choices":[{"message":{"content":"{}"}}]}`})).Chat(t.Context(), question)
		require.Error(t, err, said)
	}
}

func TestT37_NamesThatAreKeptAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 5_000)
	for _, body := range []string{
		`{"model":"` + long + `","choices":[{"message":{"content":"{}"},"finish_reason":"` + long + `"}]}`,
		`{"model":"` + long + `","incomplete_details":{"reason":"` + long +
			`"},"output":[{"type":"message","content":[{"text":"{}"}]}]}`,
	} {
		c := to(t, serve(t, reply{body: body}), func(o *Options) {
			if strings.Contains(body, "output") {
				o.BaseURL += "/responses"
			}
		})
		answer, err := c.Chat(t.Context(), question)
		require.NoError(t, err)
		require.Equal(t, long[:2*maxName], answer.Model)
		require.Equal(t, long[:2*maxName], answer.Finish)
	}
	odd := reply{body: "{\"model\":[\"\xff\"],\"choices\":[{\"message\":{\"content\":\"{}\"}}]}"}
	answer, err := to(t, serve(t, odd)).Chat(t.Context(), question)
	require.NoError(t, err)
	require.True(t, utf8.ValidString(answer.Model), "what is kept is written as JSON")
}

func TestTrapLibrarySetsTheKeyEvenWhereThereIsNone(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: said})
	_, err := to(t, w, func(o *Options) {
		o.Key, o.HTTP = "", transport.New(transport.Options{})
	}).Chat(t.Context(), question)
	require.NoError(t, err)
	require.Empty(t, w.last().header.Values("Authorization"))
}
