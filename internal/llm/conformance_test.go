package llm_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/transport"
)

const (
	key      = "sk-conformance-key"
	boundary = guard.Boundary("3f9c2a71be04d855c1e07d4492ab6f38")

	// What every kind of server is to answer, by its script, to a review of path.
	path     = "ledger/transfer.go"
	numbered = "@@ func Transfer() {\n    40     40   a()\n           41 + c() // DEFECT: c leaks\n"
	wanted   = `{"findings":[{"side":"RIGHT","start_line":41,"line":41,"quote":"c() // DEFECT: c leaks","title":"c` +
		` leaks",` +
		`"body":"The line says so itself.","category":"correctness","severity":"major","confidence":0.9` +
		`,"suggestion":""}]}`
	shown = "func Transfer() { c() }"
)

// reviewOf is a review as the product asks for it, with tools or without.
func reviewOf(tools ...llm.Tool) llm.Request {
	return llm.Request{
		System: "Review the change. Answer with one JSON object.",
		User:   boundary.Wrap("path", path) + "\n" + boundary.Wrap("diff", numbered),
		Tools:  tools, SchemaName: "file_review", MaxTokens: 4_000,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["findings"]` +
			`,"properties":{"findings":{"type":"array","items":{"type":"string"}}}}`),
	}
}

var readFile = llm.Tool{Name: "read_file", Description: "Reads a file.", Schema: json.RawMessage(
	`{"type":"object","additionalProperties":false,"required":["path"],"properties":{"path":{"type":"string"` +
		`,"description":"from the root"}}}`)}

func clientOf(t *testing.T, s *llmtest.Server, change ...func(*llm.Options)) *llm.Client {
	t.Helper()
	o := llm.Options{BaseURL: s.URL, Key: key, Model: "m", HTTP: transport.New(transport.Options{Tries: 1})}
	for _, set := range change {
		set(&o)
	}
	c, err := llm.New(o)
	require.NoError(t, err)
	return c
}

// converse is the least loop that an agent can be: it answers every call, and
// continues without tools where a server takes none.
func converse(t *testing.T, c *llm.Client, r llm.Request) (final llm.Answer, looked int) {
	t.Helper()
	for range 4 {
		answer, err := c.Chat(t.Context(), r)
		if errors.Is(err, llm.ErrNoTools) {
			require.NotEmpty(t, r.Tools)
			require.Zero(t, answer.Usage, "nothing was billed")
			r.Tools = nil
			continue
		}
		require.NoError(t, err)
		if len(answer.ToolCalls) == 0 {
			return answer, looked
		}
		require.Equal(t, "tool_calls", answer.Finish)
		r.Turns = append(r.Turns, llm.Turn{Role: llm.RoleAssistant, Text: answer.Text, ToolCalls: answer.ToolCalls,
			State: answer.State})
		for _, call := range answer.ToolCalls {
			require.Equal(t, "read_file", call.Name)
			require.JSONEq(t, `{"path":"`+path+`"}`, call.Arguments)
			r.Turns = append(r.Turns, llm.Turn{Role: llm.RoleTool, CallID: call.ID,
				Text: boundary.Wrap("result", shown)})
			looked++
		}
	}
	require.Fail(t, "the conversation has no end")
	return
}

func TestConformance_EveryKindOfServerAnswersTheSameReview(t *testing.T) {
	t.Parallel()
	for _, kind := range llmtest.Kinds() {
		for name, tools := range map[string][]llm.Tool{"without tools": nil, "with tools": {readFile}} {
			t.Run(string(kind)+" "+name, func(t *testing.T) {
				t.Parallel()
				server := llmtest.Start(t, llmtest.Curious(llmtest.Honest), llmtest.As(kind), func(s *llmtest.Server) {
					s.Key = key
				})
				c := clientOf(t, server)
				looks := 0
				if len(tools) > 0 && kind != llmtest.Plain {
					looks = 1
				}
				for range 2 {
					final, looked := converse(t, c, reviewOf(tools...))
					require.Equal(t, wanted, final.Text)
					require.Equal(t, looks, looked)
				}
				learned := len(server.Refusals())
				_, _ = converse(t, c, reviewOf(tools...))
				require.Len(t, server.Refusals(), learned, "what the server takes is known by then: %q",
					server.Refusals())
				_, _ = converse(t, c, reviewOf()) // what tools have taught is not held against a request without
				require.Equal(t, 3*(1+looks)+1, server.Calls(), "a refused form reaches no model")
				require.EqualValues(t, server.Calls(), server.Bill().Calls)
				checkAsked(t, kind, server.Requests())
			})
		}
	}
}

// checkAsked holds what a server was asked against what its kind can be asked.
func checkAsked(t *testing.T, kind llmtest.Kind, asked []llmtest.Request) {
	t.Helper()
	for _, r := range asked {
		want := map[llmtest.Kind]string{llmtest.JSONMode: "json_object", llmtest.Plain: ""}
		format, special := want[kind]
		if !special {
			format = "json_schema"
		}
		if kind == llmtest.JSONMode && len(r.Tools) > 0 {
			format = ""
		}
		require.Equal(t, format, r.Format)
		require.Equal(t, kind == llmtest.Responses, r.Interface == llmtest.ResponsesAPI)
		require.Equal(t, 4_000, r.MaxTokens)
		require.Equal(t, path, r.Path)
		for _, turn := range r.Turns {
			require.True(t, turn.Role != "tool" || strings.Contains(turn.Text, shown))
		}
	}
}

func TestConformance_ReasoningGoesBackWithToolResults(t *testing.T) {
	t.Parallel()
	thinking := llmtest.Curious(llmtest.Honest)
	server := llmtest.Start(t, func(r llmtest.Request) llmtest.Answer {
		a := thinking(r)
		a.Thought = "Let me see."
		return a
	}, llmtest.As(llmtest.JSONMode))
	final, looked := converse(t, clientOf(t, server), reviewOf(readFile))
	require.Equal(t, wanted, final.Text)
	require.Equal(t, 1, looked)
	asked := server.Requests()
	require.Equal(t, "Let me see.", asked[len(asked)-1].Turns[0].Thought)
}

func TestConformance_AUserBehindAToolIsSetApartForWhoRefusesIt(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t, llmtest.Honest, func(s *llmtest.Server) { s.NoUserBehind = true })
	c, r := clientOf(t, server), reviewOf(readFile)
	r.Turns = []llm.Turn{
		{Role: llm.RoleAssistant, ToolCalls: []llm.Call{{ID: "c", Name: "read_file", Arguments: `{"path":"a"}`}}},
		{Role: llm.RoleTool, CallID: "c", Text: "seen"}, {Role: llm.RoleUser, Text: "Answer now."},
	}
	for range 2 {
		_, err := c.Chat(t.Context(), r)
		require.NoError(t, err)
	}
	require.Len(t, server.Refusals(), 1)
	turns := server.Requests()[1].Turns
	require.Equal(t, []string{"assistant", "tool", "assistant", "user"},
		[]string{turns[0].Role, turns[1].Role, turns[2].Role, turns[3].Role})
}

func TestConformance_ResponsesStoreNothingAndSealTheReasoning(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t, llmtest.Curious(llmtest.Honest), llmtest.As(llmtest.Responses))
	_, looked := converse(t, clientOf(t, server), reviewOf(readFile))
	require.Equal(t, 1, looked)
	for _, r := range server.Requests() {
		require.Equal(t, false, r.Fields["store"])
		require.Equal(t, []any{"reasoning.encrypted_content"}, r.Fields["include"])
	}
}

func TestP9_AConversationsPrefixIsCachedAndItsUsageComesBack(t *testing.T) {
	t.Parallel()
	for _, kind := range []llmtest.Kind{llmtest.Strict, llmtest.Responses} {
		reasoning := func(r llmtest.Request) llmtest.Answer {
			a := llmtest.Curious(llmtest.Honest)(r)
			a.Reasoning = 64
			return a
		}
		server := llmtest.Start(t, reasoning, llmtest.As(kind), func(s *llmtest.Server) { s.Caches = true })
		r := reviewOf(readFile)
		r.System += strings.Repeat(" Be careful.", 600)
		final, _ := converse(t, clientOf(t, server), r)
		bill := server.Bill()
		require.EqualValues(t, 64, final.Usage.ReasoningTokens)
		require.GreaterOrEqual(t, final.Usage.CachedTokens, int64(1_024))
		require.Equal(t, bill.CachedTokens, final.Usage.CachedTokens, "the first request finds nothing")
		require.EqualValues(t, 2, bill.Calls)
		require.True(t, slices.ContainsFunc(server.Requests(), func(r llmtest.Request) bool {
			return len(r.Turns) == 2
		}))
	}
}

func TestP9_AServerThatKnowsTheOlderLimitAloneIsHeldToIt(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t, llmtest.Always(llmtest.Answer{Text: "{}", Reasoning: 76}), func(s *llmtest.Server) {
		s.Cuts, s.DeafToMaxNew = true, true
	})
	r := reviewOf()
	r.MaxTokens = 5
	_, err := clientOf(t, server).Chat(t.Context(), r)
	require.ErrorIs(t, err, llm.ErrTruncated)
	require.EqualValues(t, 5, server.Bill().OutputTokens)
}

func TestP9_ReasoningThatIsCountedInTheTotalAloneIsPaidFor(t *testing.T) {
	t.Parallel()
	price := cost.Price{Input: 1_000_000, Output: 6_000_000}
	server := llmtest.Start(t, func(r llmtest.Request) llmtest.Answer {
		a := llmtest.Honest(r)
		a.Reasoning = 2_809
		return a
	}, func(s *llmtest.Server) { s.Apart, s.Price = true, &price })
	final, _ := converse(t, clientOf(t, server), reviewOf())
	require.Equal(t, server.Bill().Cost, price.Of(final.Usage))
}

// TestP9_FilesShareTheirPrefixOnlyByBreakpoints: OpenAI's newer models find a prefix at the end of a message alone.
func TestP9_FilesShareTheirPrefixOnlyByBreakpoints(t *testing.T) {
	t.Parallel()
	for _, kind := range []llmtest.Kind{llmtest.Strict, llmtest.Responses} {
		bill := map[string]cost.Usage{}
		for _, wanted := range []string{llm.MarksOn, llm.MarksOff} {
			server := llmtest.Start(t, llmtest.Curious(llmtest.Honest), llmtest.As(kind),
				func(s *llmtest.Server) { s.Caches = true })
			c := clientOf(t, server, func(o *llm.Options) { o.Model, o.CacheMarks = "gpt-6-luna", wanted })
			for _, more := range []string{"", "\n"} {
				r := reviewOf(readFile)
				r.System += strings.Repeat(" Be careful.", 600)
				r.User += more
				_, looked := converse(t, c, r)
				require.Equal(t, 1, looked)
			}
			bill[wanted] = server.Bill()
		}
		on, off := bill[llm.MarksOn], bill[llm.MarksOff]
		require.Equal(t, off.InputTokens, on.InputTokens)
		require.Greater(t, on.CachedTokens-off.CachedTokens, int64(1_800), "the system turn is read by the second file")
		require.Less(t, on.CacheWriteTokens, off.CacheWriteTokens-1_800)
	}
}
