package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const called = `{"choices":[{"finish_reason":"tool_calls","message":{"content":null,"reasoning_content":"hm",
	"tool_calls":[
	{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"x\":\"a\"}"},
	"extra_content":{"google":{"thought_signature":"sig"}}},
	{"id":"c2","type":"function","function":{"name":"look","arguments":"{"}}]}}],"usage":{"prompt_tokens":1}}`

func TestCallsAreAnAnswerAndTheConversationGoesOnWithTheirResults(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: called}, reply{body: said})
	c := to(t, w)
	answer, err := c.Chat(t.Context(), withTools())
	require.NoError(t, err, "whatever the arguments are")
	require.Equal(t, []Call{{"c1", "look", `{"x":"a"}`}, {"c2", "look", "{"}}, answer.ToolCalls)
	require.Equal(t, "tool_calls", answer.Finish)
	require.Equal(t, "look", w.last().body["tools"].([]any)[0].(map[string]any)["function"].(map[string]any)["name"])

	answer, err = c.Chat(t.Context(), withTools(
		Turn{Role: RoleAssistant, ToolCalls: answer.ToolCalls, State: answer.State},
		Turn{Role: RoleTool, CallID: "c1", Text: "seen"}, Turn{Role: RoleTool, CallID: "c2"},
		Turn{Role: RoleUser, Text: "now answer"},
	))
	require.NoError(t, err)
	require.Equal(t, `{"x":"y"}`, answer.Text)
	require.Empty(t, answer.State)
	messages, err := json.Marshal(w.last().body["messages"])
	require.NoError(t, err)
	require.JSONEq(t, `[{"role":"system","content":"s"},{"role":"user","content":"u"},
		{"role":"assistant","reasoning_content":"hm","tool_calls":[
			{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"x\":\"a\"}"},
			"extra_content":{"google":{"thought_signature":"sig"}}},
			{"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"seen"},{"role":"tool","tool_call_id":"c2","content":"(empty)"},
		{"role":"user","content":"now answer"}]`, string(messages))
}

func TestReasoningThatAServerTakesNoneOfIsLeftOut(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body"` +
		`,"messages",2,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted"}]}}`}, reply{body: said})
	turn := looked[0]
	turn.State = json.RawMessage(`{"reasoning_content":"hm"}`)
	_, err := to(t, w, everything).Chat(t.Context(), withTools(turn, looked[1]))
	require.NoError(t, err)
	require.Contains(t, w.requests()[0].raw, "reasoning_content")
	require.NotContains(t, w.last().raw, "reasoning_content")
	require.Contains(t, w.last().raw, "reasoning_effort")
}

func TestWhatIsConstantComesFirstOnTheWire(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: called}, reply{body: said})
	c := to(t, w)
	first, err := c.Chat(t.Context(), withTools())
	require.NoError(t, err)
	_, err = c.Chat(t.Context(), withTools(Turn{Role: RoleAssistant, ToolCalls: first.ToolCalls, State: first.State},
		looked[1]))
	require.NoError(t, err)
	other := withTools()
	other.User = "another file"
	_, err = c.Chat(t.Context(), other)
	require.NoError(t, err)
	asked := w.requests()
	require.True(t, strings.HasPrefix(asked[1].raw, strings.TrimSuffix(asked[0].raw, "]}")),
		"a turn only adds to the request")
	require.Contains(t, common(asked[0].raw, asked[2].raw), `"content":"s"`,
		"tools, schema and system turn are before what differs")
	require.Contains(t, common(asked[0].raw, asked[2].raw), `"tools":[`)
}

func common(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

func TestCallsWithoutAnIDOfTheirOwnGetOne(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: `{"choices":[{"message":{"tool_calls":[{"function":{"name":"look"}},{"id":"a"` +
		`,"function":{}},{"id":"a","function":{}},{"id":"c1","function":{}}]}}]}`})
	answer, err := to(t, w).Chat(t.Context(), withTools(looked...))
	require.NoError(t, err)
	require.Equal(t, []Call{{ID: "call00001", Name: "look"}, {ID: "a"}, {ID: "call00003"}, {ID: "call00004"}},
		answer.ToolCalls,
		"unique in the conversation")
}

func TestCallsThatNobodyOfferedAreNoAnswer(t *testing.T) {
	t.Parallel()
	answer, err := to(t, serve(t, reply{body: called})).Chat(t.Context(), question)
	require.ErrorIs(t, err, ErrEmpty)
	require.Empty(t, answer.ToolCalls)
	require.Empty(t, answer.State)
}

func TestT5_KeyIsTakenOutOfCallsAndState(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: `{"choices":[{"message":{"reasoning_content":"sk-secret-value","tool_calls":[{"id":"a"` +
		`,"function":{"name":"look","arguments":"{\"x\":\"sk-secret-value\"}"}}]}}]}`})
	answer, err := to(t, w).Chat(t.Context(), withTools())
	require.NoError(t, err)
	require.Equal(t, []Call{{"a", "look", `{"x":"***"}`}}, answer.ToolCalls)
	require.JSONEq(t, `{"reasoning_content":"***"}`, string(answer.State))
}

func TestMalformedCallsAreEchoedInAFormThatServersTake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ call, want Call }{
		{Call{"i", "read file;", `{"x":`}, Call{"i", "read_file_", "{}"}},
		{Call{"i", "", ""}, Call{"i", "unknown", "{}"}},
		{Call{"i", "é", "null"}, Call{"i", "_", "{}"}},
		{Call{"i", strings.Repeat("a", 99), "[1]"}, Call{"i", strings.Repeat("a", 64), "{}"}},
		{Call{"i", "look", `{"x":1}`}, Call{"i", "look", `{"x":1}`}},
	} {
		require.Equal(t, c.want, c.call.sendable())
	}
}

func TestStateOfAnotherInterfaceIsLeftOut(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: said})
	turns := []Turn{looked[0], looked[1]}
	for _, state := range []string{`[{"type":"reasoning"}]`, `{"extra_content":7}`, `{`, `null`} {
		turns[0].State = json.RawMessage(state)
		_, err := to(t, w).Chat(t.Context(), withTools(turns...))
		require.NoError(t, err)
		require.NotContains(t, w.last().raw, "reasoning")
		require.NotContains(t, w.last().raw, "extra")
	}
}

func TestReasoningAtTheFrontOfATextIsLeftOut(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<think>\nhm {\n</think>\n\n{}": "{}", "\n<think></think>{}": "{}", "<think>{}": "<think>{}",
		"{} <think>a</think>": "{} <think>a</think>", "{}": "{}", "": "",
		"hm {\n</think>\n\n{}": "{}", "</think>{}": "{}", // a template has begun it
		"<reasoning>{a}</reasoning>{\"x\":1}": "{\"x\":1}", "<thought>b\n</thought>\n{}": "{}", // Bedrock, Gemini
		"```\n{}</think>\n```": "```\n{}</think>\n```", "[] </think>": "[] </think>",
		`Here: {"body": "a </think> b"}`:                      `Here: {"body": "a </think> b"}`, // quoted from a diff
		`Here: {"body": "</think>{\"findings\":[]}"}`:         `Here: {"body": "</think>{\"findings\":[]}"}`,
		"It says </think>{\"findings\":[]}, so\n</think>\n{}": "{}", "<think>a</think> Here: {}": "Here: {}",
		"Here: {}\n</think>": "Here: {}\n</think>", "a</think>```json\n{}\n```": "```json\n{}\n```",
	} {
		require.Equal(t, want, stripThought(in))
	}
}

func TestFinishReasonsAreSaidInOneWay(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]error{
		"stop": nil, "end_turn": nil, "eos": nil, "": nil, "MAX_TOKENS": ErrTruncated, "model_length": ErrTruncated,
		"SAFETY": ErrRefused, "refusal": ErrRefused,
	} {
		w := serve(t, reply{body: `{"choices":[{"message":{"content":"{}"},"finish_reason":"` + reason + `"}]}`})
		_, err := to(t, w).Chat(t.Context(), question)
		require.ErrorIs(t, err, want, reason)
	}
}

func TestP11_TheSameRequestIsTheSameBytes(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: said})
	body := map[string]any{"top_p": 0.5, "top_k": 1, "provider": map[string]any{"b": 1, "a": 2}, "user": "u",
		"verbosity": "low"}
	for range 20 {
		_, err := to(t, w, func(o *Options) { o.Body = body }).Chat(t.Context(), withTools(looked...))
		require.NoError(t, err)
	}
	for _, s := range w.requests() {
		require.Equal(t, w.last().raw, s.raw)
	}
}
