package llm

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
)

func TestP9_UsageIsReadInEveryServersWriting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		usage string
		want  cost.Usage
	}{
		"OpenAI": {`{"prompt_tokens":100,"completion_tokens":50,"prompt_tokens_details":{"cached_tokens":64}` +
			`,"completion_tokens_details":{"reasoning_tokens":30}}`,
			cost.Usage{InputTokens: 100, CachedTokens: 64, OutputTokens: 50, ReasoningTokens: 30}},
		"Responses": {`{"input_tokens":100,"output_tokens":50,"input_tokens_details":{"cached_tokens":64` +
			`,"cache_write_tokens":9},"output_tokens_details":{"reasoning_tokens":30}}`,
			cost.Usage{InputTokens: 100, CachedTokens: 64, CacheWriteTokens: 9, OutputTokens: 50, ReasoningTokens: 30}},
		"OpenRouter": {`{"prompt_tokens":100,"completion_tokens":5,"cost":0.0000421` +
			`,"prompt_tokens_details":{"cached_tokens":10,"cache_write_tokens":20},"completion_tokens_details":null}`,
			cost.Usage{InputTokens: 100, CachedTokens: 10, CacheWriteTokens: 20, OutputTokens: 5, Cost: 43}},
		"OpenRouter with the user's own key": {`{"prompt_tokens":100,"completion_tokens":5,"cost":0.00002,"is_byok":true` +
			`,"cost_details":{"upstream_inference_cost":0.0004}}`,
			cost.Usage{InputTokens: 100, OutputTokens: 5, Cost: 420}},
		"OpenRouter with the user's own key, at a cost that it does not know": {`{"prompt_tokens":100,` +
			`"completion_tokens":5,"cost":0.00002,"is_byok":true}`, cost.Usage{InputTokens: 100, OutputTokens: 5}},
		"OpenRouter with its own key": {`{"prompt_tokens":100,"completion_tokens":5,"cost":0.0004,"is_byok":false` +
			`,"cost_details":{"upstream_inference_cost":0.0004}}`,
			cost.Usage{InputTokens: 100, OutputTokens: 5, Cost: 400}},
		"xAI and Gemini, reasoning apart": {`{"prompt_tokens":10,"completion_tokens":2,"total_tokens":329` +
			`,"completion_tokens_details":{"reasoning_tokens":317}}`,
			cost.Usage{InputTokens: 10, OutputTokens: 319, ReasoningTokens: 317}},
		"LiteLLM of Anthropic": {`{"prompt_tokens":100,"completion_tokens":5` +
			`,"prompt_tokens_details":{"cached_tokens":60},"cache_read_input_tokens":60` +
			`,"cache_creation_input_tokens":30}`,
			cost.Usage{InputTokens: 100, CachedTokens: 60, CacheWriteTokens: 30, OutputTokens: 5}},
		"Anthropic, cached ones apart": {`{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":60` +
			`,"cache_creation_input_tokens":30}`,
			cost.Usage{InputTokens: 100, CachedTokens: 60, CacheWriteTokens: 30, OutputTokens: 5}},
		"cached ones apart under OpenAI's names": {`{"prompt_tokens":10,"completion_tokens":5` +
			`,"cache_read_input_tokens":60,"cache_creation_input_tokens":30}`,
			cost.Usage{InputTokens: 100, CachedTokens: 60, CacheWriteTokens: 30, OutputTokens: 5}},
		"DeepSeek": {`{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":70` +
			`,"prompt_cache_miss_tokens":30}`,
			cost.Usage{InputTokens: 100, CachedTokens: 70, OutputTokens: 5}},
		"parts above their whole": {`{"prompt_tokens":5,"completion_tokens":5` +
			`,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":9}` +
			`,"completion_tokens_details":{"reasoning_tokens":99}}`,
			cost.Usage{InputTokens: 5, CachedTokens: 5, OutputTokens: 5, ReasoningTokens: 5}},
		"hostile": {`{"prompt_tokens":-5,"completion_tokens":1e300,"cost":-1,"cache_read_input_tokens":-9` +
			`,"prompt_tokens_details":{"cached_tokens":"NaN"}}`,
			cost.Usage{OutputTokens: 1 << 40}},
		"odd types": {`{"prompt_tokens":"12","completion_tokens":3.0,"prompt_tokens_details":[1]` +
			`,"completion_tokens_details":{"reasoning_tokens":{}},"cost":"0.5"}`,
			cost.Usage{InputTokens: 12, OutputTokens: 3, Cost: 500_000}},
		"none": {`null`, cost.Usage{}},
		"not a number in": {`{"input_tokens":"many","output_tokens":5,"cache_read_input_tokens":60,"cost":0.1}`,
			cost.Usage{Cost: 100_000}},
		"not a number out": {`{"prompt_tokens":100,"completion_tokens":{"value":5}}`, cost.Usage{}},
		"not a number that is apart": {`{"input_tokens":10,"output_tokens":5,"cache_creation_input_tokens":true}`,
			cost.Usage{}},
		"not a number in a part": {`{"prompt_tokens":100,"completion_tokens":5` +
			`,"prompt_tokens_details":{"cached_tokens":"x"}}`, cost.Usage{InputTokens: 100, OutputTokens: 5}},
	} {
		var said envelope
		_ = json.Unmarshal([]byte(`{"usage":`+c.usage+`}`), &said)
		c.want.Calls = 1
		require.Equal(t, c.want, said.Usage.usage(), name)
	}
}
