package llm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarksGoToHostsThatTakeThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address, wanted, model string
		mark                   cacheMark
	}{
		{"https://openrouter.ai/api/v1", "", "anthropic/claude-sonnet-5-5", cacheControl},
		{"https://OpenRouter.ai/api/v1", "auto", "gpt-6-luna", cacheControl}, // it translates them
		{"https://api.anthropic.com/v1", "", "claude-sonnet-5-5", cacheControl},
		{"https://api.anthropic.com/v1", "off", "claude-sonnet-5-5", ""},
		{"https://api.openai.com/v1", "", "gpt-5.5-mini", ""},
		{"https://api.openai.com/v1", "", "gpt-5.6-terra", cacheBreakpoint},
		{"https://eu.api.openai.com/v1", "auto", "gpt-10", cacheBreakpoint},
		{"", "", "gpt-6-luna", cacheBreakpoint},
		{"", "off", "gpt-6-luna", ""},
		{"", "", "gpt-4o", ""},
		{"https://notopenrouter.ai/v1", "", "gpt-6-luna", ""},
		{"https://openrouter.ai.example.com/v1", "", "", ""},
		{"https://gateway.example.com/v1", "on", "claude-sonnet-5-5", cacheControl},
		{"https://gateway.example.com/v1", "on", "gpt-6-luna", cacheBreakpoint},
	} {
		t.Run(fmt.Sprint(c.address, " ", c.wanted, " ", c.model), func(t *testing.T) {
			t.Parallel()
			at, err := newEndpoint(c.address)
			require.NoError(t, err)
			require.Equal(t, c.mark, at.cacheMark(c.wanted, c.model))
		})
	}
}

// talk is a conversation with two rounds of looking.
func talk() Request {
	all := withTools()
	all.System, all.User = "s", "u"
	for _, id := range []string{"1", "2"} {
		all.Turns = append(all.Turns, Turn{Role: RoleAssistant,
			ToolCalls: []Call{{ID: id, Name: "look", Arguments: "{}"}, {ID: id + "b", Name: "look", Arguments: "{}"}}},
			Turn{Role: RoleTool, CallID: id, Text: "found"}, Turn{Role: RoleTool, CallID: id + "b", Text: "found" + id})
	}
	return all
}

func TestMarksStandWhereAPrefixEndsThatIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{body: said})
	c := to(t, w, func(o *Options) { o.CacheMarks = MarksOn })
	mark := func(text string) any {
		return []any{map[string]any{"type": "text", "text": text, "cache_control": map[string]any{"type": "ephemeral"}}}
	}
	contents := func() (all []any) {
		for _, m := range w.last().body["messages"].([]any) {
			all = append(all, m.(map[string]any)["content"])
		}
		return all
	}
	_, err := c.Chat(t.Context(), Request{System: "s", User: "u"})
	require.NoError(t, err)
	require.Equal(t, []any{mark("s"), "u"}, contents(), "a single question is not written to the cache")

	_, err = c.Chat(t.Context(), talk())
	require.NoError(t, err)
	require.Equal(t, []any{mark("s"), "u", nil, "found", "found1", nil, "found", mark("found2")}, contents())

	plain := to(t, w)
	_, err = plain.Chat(t.Context(), talk())
	require.NoError(t, err)
	require.NotContains(t, w.last().raw, "cache")
	require.Equal(t, plain.Identity(), c.Identity(), "marks change no answer")
}

func TestABreakpointStandsBehindTheSystemTurn(t *testing.T) {
	t.Parallel()
	for _, via := range []string{"/chat/completions", "/responses"} {
		t.Run(via, func(t *testing.T) {
			t.Parallel()
			body, kind, turns := said, "text", "messages"
			if via == "/responses" {
				body, kind, turns = responded, "input_text", "input"
			}
			w := serve(t, reply{body: body})
			c := to(t, w, func(o *Options) {
				o.Model, o.CacheMarks, o.BaseURL = "gpt-6-luna", MarksOn, o.BaseURL+via
				o.Body = map[string]any{"prompt_cache_key": "mine"}
			})
			first := func() any { return w.last().body[turns].([]any)[0].(map[string]any) }
			system := map[string]any{"role": "system", "content": []any{map[string]any{"type": kind, "text": "s",
				"prompt_cache_breakpoint": map[string]any{"mode": "explicit"}}}}
			_, err := c.Chat(t.Context(), Request{System: "s", User: "u"})
			require.NoError(t, err)
			require.Equal(t, system, first())
			require.Equal(t, map[string]any{"mode": "explicit"}, w.last().body["prompt_cache_options"],
				"a single question is not written to the cache")
			require.Equal(t, "mine", w.last().body["prompt_cache_key"], "the settings' own")
			require.NotContains(t, w.last().body, "instructions")

			_, err = c.Chat(t.Context(), talk())
			require.NoError(t, err)
			require.Equal(t, system, first())
			require.Equal(t, 1, strings.Count(w.last().raw, "prompt_cache_breakpoint"))
			require.NotContains(t, w.last().body, "prompt_cache_options", "the server marks the last turn itself")

			c.dialect.form[marks] = 1 // as after a refusal
			_, err = c.Chat(t.Context(), talk())
			require.NoError(t, err)
			require.NotContains(t, w.last().raw, "breakpoint")
		})
	}
}
