package llm

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// everything asks for all that can be refused.
func everything(o *Options) {
	o.Effort, o.Temperature, o.Seed, o.CacheMarks = "low", ptr(0.5), ptr(7), MarksOn
}

// refused are servers' words, as their users report them, and what they teach.
var refusedWords = []struct {
	server string
	status int
	body   string
	lost   capability
}{
	{"OpenAI", 400, `{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model."` +
		`,"type":"invalid_request_error","param":"temperature","code":"unsupported_parameter"}}`, temperature},
	{"OpenAI, named beside the message", 400, `{"error":{"message":"Unsupported value.","param":"temperature"` +
		`,"code":"unsupported_value"}}`, temperature},
	{"LiteLLM", 400, `{"error":{"message":"litellm.UnsupportedParamsError: gpt-5-nano doesn't support` +
		` temperature=0.1 while reasoning is active. Only temperature=1 is supported unless reasoning_effort` +
		` resolves to 'none'","code":"400"}}`, temperature},
	{"LiteLLM", 400, `{"error":{"message":"litellm.UnsupportedParamsError: openai does not support parameters:` +
		` ['reasoning_effort'], for model=gpt-4o. To drop these, set litellm.drop_params=True","code":"400"}}`, effort},
	{"Bedrock", 400, `{"message":"The model returned the following errors: reasoning_effort: Extra inputs are not` +
		` permitted"}`, effort},
	{"Azure", 400, `{"error":{"message":"Unknown parameter: 'reasoning_effort'.","type":"invalid_request_error"` +
		`,"param":"reasoning_effort","code":"unknown_parameter"}}`, effort},
	{"Gemini", 400, `[{"error":{"code":400,"message":"thinking_level MEDIUM is not supported by this model."` +
		`,"status":"INVALID_ARGUMENT"}}]`, effort},
	{"vLLM", 400, `{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort'),` +
		` 'msg': 'Extra inputs are not permitted', 'input': 'low'}]","type":"BadRequestError","param":null,"code":400}`,
		effort},
	{"FastAPI", 422, `{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not` +
		` permitted","input":7}]}`, seed},
	{"Groq", 400, `{"error":{"message":"'messages.0' : for 'role:system' the following must be satisfied` +
		`[('messages.0.content' : value must be a string)]","type":"invalid_request_error"}}`, marks},
	{"vLLM", 400, `{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'messages', 0,` +
		` 'content', 0, 'cache_control'), 'msg': 'Extra inputs are not permitted'}]"}`, marks},
	{"OpenAI", 400, `{"error":{"message":"Unsupported parameter: 'prompt_cache_options' is not supported with this` +
		` model.","type":"invalid_request_error","param":"prompt_cache_options"}}`, marks},
	{"OpenAI", 400, `{"error":{"message":"Unknown parameter: 'input[0].content[0].prompt_cache_breakpoint'.",` +
		`"type":"invalid_request_error","code":"unknown_parameter"}}`, marks},
	{"a gateway", 400, `{"detail":"Instructions are required"}`, marks},
	{"Bedrock", 400, `{"error":{"message":"tools.0.custom.strict: Extra inputs are not permitted"}}`, strict},
	{"OpenAI", 400, `{"error":{"message":"Invalid schema for function 'look': In context=(), 'additionalProperties'` +
		` is required","param":"tools[0].function.parameters","code":"invalid_function_parameters"}}`, strict},
	{"Gemini", 400, `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name` +
		` \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot find field."` +
		`,"status":"INVALID_ARGUMENT"}}]`, strict},
	{"vLLM", 400, `{"object":"error","message":"System role not supported","type":"BadRequestError","code":400}`,
		system},
	{"vLLM, by a template without one", 400, `{"object":"error","message":"Conversation roles must alternate` +
		` user/assistant/user/assistant/..."}`, system},
	{"llama.cpp, by a template without one", 400, `{"error":{"message":"Only user and assistant roles are` +
		` supported!"}}`, system},
	{"OpenAI", 400, `{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this` +
		` model.","param":"messages[0].role"}}`, system},
	{"Mistral", 400, `{"object":"error","message":"Unexpected role 'user' after role 'tool'"` +
		`,"type":"invalid_request_message_order","param":null,"code":"3230"}`, bridge},
	{"llama.cpp, by a template of Mistral's", 500, `{"error":{"code":500,"message":"After the optional system message,` +
		` conversation roles must alternate user and assistant roles except for tool calls and results."}}`, bridge},
	{"Gemini", 400, `[{"error":{"code":400,"message":"Function calling with a response mime type: 'application/json'` +
		` is unsupported","status":"INVALID_ARGUMENT"}}]`, mixed},
	{"Groq", 400, `{"error":{"message":"json mode cannot be combined with tool/function calling"` +
		`,"type":"invalid_request_error"}}`, mixed},
	{"OpenRouter, of its provider", 400, `{"error":{"message":"Provider returned error","code":400` +
		`,"metadata":{"raw":"{\"error\":\"response_format is not supported\"}","provider_name":"p"}}}`, format},
	{"OpenAI", 400, `{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not` +
		` supported with this model.","param":null}}`, format},
	{"OpenAI", 400, `{"error":{"message":"max_tokens is too large: 4000. This model supports at most 2048 completion` +
		` tokens, whereas you provided 4000.","param":"max_tokens"}}`, ceiling},
	{"vLLM", 400, `{"message":"'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum` +
		` context length is 4096 tokens and your request has 242 input tokens (4000 > 4096 - 242). None"}`, ceiling},
	{"Scaleway", 416, `{"error":"max_completion_tokens is limited for this model"}`, ceiling},
	{"OpenAI", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested` +
		` 8256 tokens (64 in the messages, 8192 in the completion).","code":"context_length_exceeded"}}`, ceiling},
	{"OpenRouter", 400, `{"error":{"message":"This endpoint's maximum context length is 8192 tokens. However, you` +
		` requested about 9000 tokens (1000 of text input, 8000 in the output).","code":400}}`, ceiling},
	{"DashScope", 400, `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of max_tokens should` +
		` be [1, 2000]","code":"invalid_parameter_error"}}`, ceiling},
	{"Text Generation Inference", 422, `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens`" +
		` must be <= 4096. Given: 242 ` + "`inputs`" + ` tokens and 4000 ...","error_type":"validation"}`, ceiling},
	{"Vertex AI", 400, `[{"error":{"code":400,"message":"Unable to submit request because it has a maxOutputTokens` +
		` value of 4000 but the supported range is from 1 (inclusive) to 2049 (exclusive)."}}]`, ceiling},
	{"Anthropic", 400, `{"error":{"message":"max_tokens: 4000 > 2048, which is not supported by this model"}}`,
		ceiling},
	{"vLLM", 400, `{"error":{"message":"This model's maximum context length is 32768 tokens. However, you requested` +
		` 32000 output tokens and your prompt contains at least 769 input tokens, for a total of at least 32769` +
		` tokens. Please reduce the length of the input prompt or the number of requested output tokens."` +
		`,"param":"input_tokens"}}`, ceiling},
	{"Bedrock", 400, `{"message":"The maximum tokens you requested exceeds the model limit of 2048. Try again with a` +
		` maximum tokens value that is lower than 2048."}`, ceiling},
	{"OpenAI, of an account's rate", 429, `{"error":{"message":"Request too large for gpt-6-luna in organization` +
		` org-a on tokens per min (TPM): Limit 30000, Requested 37313. The input or output tokens must be reduced in` +
		` order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}`, ceiling},
	{"Groq, of an account's rate", 413, "{\"error\":{\"message\":\"Request too large for model `m` in organization" +
		" `o` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your" +
		" message size and try again.\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", ceiling},
	{"OpenRouter, of an account's credit", 402, `{"error":{"message":"This request requires more credits, or fewer` +
		` max_tokens. You requested up to 16384 tokens, but can only afford 3919. To increase, visit` +
		` https://openrouter.ai/settings/credits and upgrade to a paid account","code":402}}`, ceiling},
	{"Gemini", 400, `[{"error":{"code":400,"message":"The specified schema produces a constraint that has too many` +
		` states for serving. Typical causes of this error are schemas with lots of text"}}]`,
		format},
	{"Gemini", 400, `[{"error":{"code":400,"message":"A schema in GenerationConfig in the request exceeds the maximum` +
		` allowed nesting depth.","status":"INVALID_ARGUMENT"}}]`, format},
	{"Groq", 400, `{"error":{"message":"Failed to generate JSON. Please adjust your prompt. See 'failed_generation'` +
		` for more details.","type":"invalid_request_error","code":"json_validate_failed"}}`, format},
	{"llama.cpp", 400, `{"error":{"code":400,"message":"Cannot use custom grammar constraints with tools."` +
		`,"type":"invalid_request_error"}}`, format},
	{"llama.cpp", 400, `{"error":{"code":400,"message":"tools param requires --jinja flag"}}`, tools},
	{"OpenAI", 400, `{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens"}}`, length},
	{"OpenAI, named beside the message", 400, `{"error":{"message":"Not taken here.","param":"max_completion_tokens"` +
		`,"code":"unsupported_parameter"}}`, length},
	{"a gateway", 400, `{"error":{"message":"max_completion_tokens: use max_tokens instead"}}`, length},
	{"vLLM", 400, `{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body',` +
		` 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted', 'input': 8192}]"}`, length},
	{"Ollama", 400, `{"error":{"message":"smollm2:135m does not support tools","type":"api_error"}}`, tools},
	{"OpenRouter", 404, `{"error":{"message":"No endpoints found that support tool use. To learn more about provider` +
		` routing, visit: https://openrouter.ai/docs/provider-routing","code":404}}`, tools},
	{"vLLM", 400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and` +
		` --tool-call-parser to be set"}`, tools},
	{"vLLM", 400, `{"message":"[{'type': 'extra_forbidden', 'loc': ('body', 'tools'), 'msg': 'Extra inputs are not` +
		` permitted'}]"}`, tools},
}

func TestRefusalsInServersOwnWordsAreLearned(t *testing.T) {
	t.Parallel()
	for i, c := range refusedWords {
		t.Run(fmt.Sprint(c.server, i), func(t *testing.T) {
			t.Parallel()
			w := serve(t, reply{c.status, c.body}, reply{body: said})
			chat := to(t, w, everything)
			asked := withTools(Turn{Role: RoleUser, Text: "Answer now."})
			asked.MaxTokens = 4000
			for range 2 {
				_, err := chat.Chat(t.Context(), asked)
				if c.lost == tools {
					require.ErrorIs(t, err, ErrNoTools)
					require.Equal(t, 1, chat.dialect.current()[tools])
					continue
				}
				require.NoError(t, err)
			}
			var want form
			if c.lost != ceiling {
				want[c.lost] = 1
			}
			require.Equal(t, want, chat.dialect.current(), "one thing is given up, and no other")
			if c.lost != tools {
				require.Len(t, w.requests(), 3, "the second call knows the form")
			}
		})
	}
}

func TestPlainerFormsAreWhatTheySay(t *testing.T) {
	t.Parallel()
	for lost, missing := range map[capability]string{temperature: "temperature", seed: "seed",
		effort: "reasoning_effort", marks: "cache_control", mixed: "response_format", format: "json_schema",
		length: "max_tokens"} {
		w := serve(t, reply{body: said})
		c := to(t, w, everything)
		_, err := c.Chat(t.Context(), withTools())
		require.NoError(t, err)
		require.Contains(t, w.last().raw, `"`+missing+`"`)
		c.dialect.form[lost] = 1
		_, err = c.Chat(t.Context(), withTools())
		require.NoError(t, err)
		require.NotContains(t, w.last().raw, `"`+missing+`"`)
	}
	w := serve(t, reply{body: said})
	c := to(t, w)
	c.dialect.form[mixed], c.dialect.form[system] = 1, 1
	_, err := c.Chat(t.Context(), question)
	require.NoError(t, err)
	require.Contains(t, w.last().raw, "json_schema", "without tools the format stays")
	require.Equal(t, []any{map[string]any{"role": "user", "content": "s\n\nu"}}, w.last().body["messages"])
	for step, has := range []func(require.TestingT, any, any, ...any){require.Contains, require.NotContains} {
		c.dialect.form[strict] = step
		_, err = c.Chat(t.Context(), withTools())
		require.NoError(t, err)
		has(t, fmt.Sprint(w.last().body["tools"]), "additionalProperties")
	}
}

func TestRefusalThatNamesNothingKnownIsAnError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"error":{"message":"Invalid request."}}`, `{"error":{"message":"unknown field: frobnicate"}}`,
		`{"object":"error","message":"Extra inputs are not permitted"}`,
		`[]`, `7`, `{"error":{"message":"Missing reasoning_content field in the assistant message at message` +
			` index 2"}}`,
		// an echo of what was sent
		`{"error":{"message":"bad", "input":"temperature response_format tools are not supported"}}`,
	} {
		w := serve(t, reply{400, body})
		c := to(t, w, everything)
		_, err := c.Chat(t.Context(), withTools())
		var e *StatusError
		require.ErrorAs(t, err, &e, body)
		require.Len(t, w.requests(), 1)
		require.Equal(t, form{}, c.dialect.current())
	}
}

func TestNothingIsLearnedFromFailuresOfAnotherKind(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403, 429, 500, 503} {
		w := serve(t, reply{status, `{"error":{"message":"temperature, response_format, tools are not supported"}}`})
		c := to(t, w, everything)
		_, err := c.Chat(t.Context(), withTools())
		require.Error(t, err)
		require.Equal(t, form{}, c.dialect.current())
	}
}

func TestRefusalsOfEverythingEnd(t *testing.T) {
	t.Parallel()
	everyWord := "use /v1/responses, temperature seed encrypted effort strict system role json_schema tools " +
		"max_tokens at most, tools not supported"
	w := serve(t, reply{404, everyWord})
	asked := withTools()
	asked.MaxTokens = 1 << 20
	_, err := to(t, w, everything).Chat(t.Context(), asked)
	require.ErrorIs(t, err, ErrNoTools)
	require.LessOrEqual(t, len(w.requests()), 25)
	var body map[string]any
	require.NoError(t, json.Unmarshal([]byte(w.last().raw), &body))
	for _, gone := range []string{"temperature", "seed", "reasoning_effort", "response_format"} {
		require.NotContains(t, body, gone)
	}
}
