package llm

import (
	"encoding/json"
	"math"

	"github.com/org/pr-review-action/internal/cost"
)

// reported is a usage as servers write it: that of chat completions (prompt_tokens) and Responses (input_tokens),
// Anthropic's fields next to either (cache_read_input_tokens), and the additions of DeepSeek and OpenRouter.
type reported struct {
	PromptTokens     tally `json:"prompt_tokens"`
	InputTokens      tally `json:"input_tokens"`
	CompletionTokens tally `json:"completion_tokens"`
	OutputTokens     tally `json:"output_tokens"`
	TotalTokens      tally `json:"total_tokens"`

	PromptDetails     inputDetails  `json:"prompt_tokens_details"`
	InputDetails      inputDetails  `json:"input_tokens_details"`
	CompletionDetails outputDetails `json:"completion_tokens_details"`
	OutputDetails     outputDetails `json:"output_tokens_details"`

	CacheRead  tally `json:"cache_read_input_tokens"`
	CacheWrite tally `json:"cache_creation_input_tokens"`
	CacheHit   tally `json:"prompt_cache_hit_tokens"`

	Cost   lax `json:"cost"` // USD
	OwnKey lax `json:"is_byok"`
	Billed struct {
		Upstream lax `json:"upstream_inference_cost"`
	} `json:"cost_details"`
}

type inputDetails struct {
	Cached     tally `json:"cached_tokens"`
	CacheWrite tally `json:"cache_write_tokens"`
	Created    tally `json:"cache_creation_tokens"`
}

type outputDetails struct {
	Reasoning tally `json:"reasoning_tokens"`
}

// usage bounds the reported numbers so that sums stay sums, parts stay within their whole, and a hostile report
// earns no credit. One whose input or output cannot be read counts as none.
func (r reported) usage() cost.Usage {
	if min(r.PromptTokens, r.InputTokens, r.CompletionTokens, r.OutputTokens, r.CacheRead, r.CacheWrite) < 0 {
		return cost.Usage{Calls: 1, Cost: r.usd()}
	}
	in := max(r.PromptTokens, r.InputTokens)
	cached := max(r.PromptDetails.Cached, r.InputDetails.Cached, r.CacheRead, r.CacheHit)
	written := max(r.PromptDetails.CacheWrite, r.PromptDetails.Created, r.InputDetails.CacheWrite,
		r.InputDetails.Created, r.CacheWrite)
	if r.PromptTokens == 0 || r.CacheRead+r.CacheWrite > in {
		in += r.CacheRead + r.CacheWrite // Anthropic's own input_tokens include neither
	}
	cached = min(cached, in)
	// xAI and Gemini count reasoning in the total alone.
	out := max(r.CompletionTokens, r.OutputTokens, r.TotalTokens-in)
	return cost.Usage{
		InputTokens:      int64(in),
		CachedTokens:     int64(cached),
		CacheWriteTokens: int64(min(written, in-cached)),
		OutputTokens:     int64(out),
		ReasoningTokens:  int64(min(max(r.CompletionDetails.Reasoning, r.OutputDetails.Reasoning), out)),
		Calls:            1,
		Cost:             r.usd(),
	}
}

// usd returns the cost that the server states. OpenRouter's is only its fee where the request went to a provider with
// the user's own key there.
func (r reported) usd() cost.MicroUSD {
	stated, upstream := microUSD(json.Number(r.Cost)), microUSD(json.Number(r.Billed.Upstream))
	switch {
	case r.OwnKey != "true":
		return stated
	case upstream == 0:
		return 0
	}
	return stated + upstream
}

// tally is a number of tokens from 0 to 2^40; anything else is read as 0, but as unread if it is not a number.
type tally int64

const unread tally = -1

// UnmarshalJSON accepts any value.
func (t *tally) UnmarshalJSON(raw []byte) error {
	var text lax
	_ = text.UnmarshalJSON(raw) // it accepts any
	f, err := json.Number(text).Float64()
	switch *t = 0; {
	case string(raw) == "null":
	case err != nil:
		*t = unread
	case f > 0:
		*t = tally(min(f, 1<<40))
	}
	return nil
}

// microUSD reads dollars and rounds up to a micro-dollar; it returns 0 for anything but an amount between 0 and a
// million.
func microUSD(dollars json.Number) cost.MicroUSD {
	f, err := dollars.Float64()
	if err != nil || !(f > 0 && f <= 1e6) {
		return 0
	}
	return cost.MicroUSD(math.Ceil(f*1e6 - 1e-6))
}
