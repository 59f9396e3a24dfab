package llm

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarksGoToHostsThatTakeThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address, wanted string
		marks           bool
	}{
		{"https://openrouter.ai/api/v1", "", true},
		{"https://OpenRouter.ai/api/v1", "auto", true},
		{"https://api.anthropic.com/v1", "", true},
		{"https://api.anthropic.com/v1", "off", false},
		{"https://api.openai.com/v1", "", false},
		{"", "", false},
		{"https://notopenrouter.ai/v1", "", false},
		{"https://openrouter.ai.example.com/v1", "", false},
		{"https://gateway.example.com/v1", "on", true},
	} {
		t.Run(fmt.Sprint(c.address, " ", c.wanted), func(t *testing.T) {
			t.Parallel()
			at, err := newEndpoint(c.address)
			require.NoError(t, err)
			require.Equal(t, c.marks, at.wantsMarks(c.wanted))
		})
	}
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

	talk := withTools()
	talk.System, talk.User = "s", "u"
	talk.Turns = []Turn{{Role: RoleAssistant, ToolCalls: []Call{{ID: "1", Name: "look", Arguments: "{}"}}},
		{Role: RoleTool, CallID: "1", Text: "found"}}
	_, err = c.Chat(t.Context(), talk)
	require.NoError(t, err)
	all := contents()
	require.Equal(t, mark("s"), all[0])
	require.Equal(t, "u", all[1])
	require.Equal(t, mark("found"), all[3])

	plain := to(t, w)
	_, err = plain.Chat(t.Context(), talk)
	require.NoError(t, err)
	require.NotContains(t, w.last().raw, "cache_control")
	require.Equal(t, plain.Identity(), c.Identity(), "marks change no answer")
}
