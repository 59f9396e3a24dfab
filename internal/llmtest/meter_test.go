package llmtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
)

func turn(system, user string) string {
	text, _ := json.Marshal([]object{{"role": "system", "content": system}, {"role": "user", "content": user}})
	return `"messages":` + string(text)
}

type usage struct {
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached     int `json:"cached_tokens"`
			CacheWrite int `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

func billed(t *testing.T, s *Server, body string) usage {
	t.Helper()
	status, answer := exchange(s, "/v1/chat/completions", body, nil)
	require.Equal(t, 200, status, answer)
	var u usage
	require.NoError(t, json.Unmarshal([]byte(answer), &u))
	return u
}

func TestPrefixesAreCachedFrom1024TokensInStepsOf128(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ common, want int }{
		{1023, 0}, {1024, 1024}, {1151, 1024}, {1152, 1152}, {5000, 4992},
	} {
		s := New(Honest)
		s.Caches = true
		system := strings.Repeat("a", c.common*bytesPerToken)
		require.Zero(t, billed(t, s, chat(turn(system, "b"))).Usage.Details.Cached, "nothing was asked before")
		got := billed(t, s, chat(turn(system, "c and more")))
		require.Equal(t, c.want, got.Usage.Details.Cached)
		require.Equal(t, c.common+2, got.Usage.Prompt)
		tools := `"tools":[` + strictTool + `]`
		require.Zero(t, billed(t, s, chat(turn(system, "b"), tools)).Usage.Details.Cached,
			"tools stand before the system turn")
	}
}

func TestP9_TheBillHoldsEveryAnswerThatAModelWrote(t *testing.T) {
	t.Parallel()
	s := New(Faulty(Always(Answer{Text: strings.Repeat("x", 400), Reasoning: 50, CacheWrite: 3}), nil,
		Faults()["truncated-json"], Failing(500)))
	s.Price = &cost.Price{Input: 1_000_000, CachedInput: 500_000, Output: 2_000_000, CacheWrite: 2_000_000}
	got := billed(t, s, chat(turn(strings.Repeat("a", 400), "b")))
	require.Equal(t, 150, got.Usage.Completion)
	require.Equal(t, 3, got.Usage.Details.CacheWrite)
	require.EqualValues(t, 403, s.Bill().Cost, "97 + 2×3 in, 2×150 out")
	for range 2 {
		_, _ = exchange(s, "/v1/chat/completions", chat(turn("a", "b")), nil)
	}
	bill := s.Bill()
	require.EqualValues(t, 2, bill.Calls, "an error status is not billed, half an answer is")
	require.EqualValues(t, 300, bill.OutputTokens)
	require.EqualValues(t, 100, bill.ReasoningTokens)
	require.EqualValues(t, 403+300, bill.Cost, "without input, nothing was written to a cache either")
}

func TestServerThatCutsKeepsToTheOutputLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]string{`"max_completion_tokens":60`: `"finish_reason":"length"`,
		`"max_completion_tokens":200`: `"finish_reason":"stop"`} {
		s := New(Always(Answer{Text: strings.Repeat("x", 400), Reasoning: 50}))
		s.Cuts = true
		_, answer := exchange(s, "/v1/chat/completions", chat(messages, limit), nil)
		require.Contains(t, answer, want)
		require.LessOrEqual(t, s.Bill().OutputTokens, int64(s.Requests()[0].MaxTokens))
	}
}
