package cost

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPriceOfFindsAModelUnderItsNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want  Price
		names string
	}{
		{Price{250_000, 25_000, 2_000_000, 250_000, 0},
			"gpt-5-mini GPT-5-mini openai/gpt-5-mini azure/gpt-5-mini openrouter/openai/gpt-5-mini " +
				"gpt-5-mini-2025-08-07"},
		{Price{1_250_000, 125_000, 10_000_000, 1_250_000, 0},
			"gpt-5 gpt-5-2025-08-07 gemini/gemini-2.5-pro google/gemini-2.5-pro"},
		{Price{15_000_000, 15_000_000, 120_000_000, 15_000_000, 0}, "gpt-5-pro gpt-5-pro-2025-10-06"},
		{Price{3_000_000, 300_000, 15_000_000, 3_750_000, 0},
			"claude-sonnet-4-5-20250929 claude-sonnet-4-5@20250929 anthropic/claude-sonnet-4.5 " +
				"claude-sonnet-4-20250514"},
		{Price{5_000_000, 5_000_000, 15_000_000, 5_000_000, 0}, "gpt-4o-2024-05-13"},
		{Price{2_500_000, 1_250_000, 10_000_000, 2_500_000, 0}, "gpt-4o gpt-4o-2024-08-06"},
		{Price{500_000, 500_000, 1_500_000, 500_000, 0}, "gpt-35-turbo gpt-3.5-turbo"},
		{Price{2_000_000, 500_000, 6_000_000, 2_000_000, 0}, "xai/grok-4.5 x-ai/grok-4.5"},
		{Price{180_000, 180_000, 0, 180_000, 0}, "voyage-code-3 voyage/voyage-code-3"},
		{Price{0, 0, 0, 0, 2_000_000}, "rerank-v3.5 cohere/rerank-v3.5"},
		{Price{50_000, 50_000, 0, 50_000, 0}, "rerank-3 mongodb/rerank-3 cohere/rerank-v5.0-pro"},
	} {
		for name := range strings.FieldsSeq(c.names) {
			got, ok := PriceOf(name)
			require.True(t, ok, name)
			require.Equal(t, c.want, got, name)
		}
	}
}

func TestPriceOfTakesNoOtherModelForTheOneMeant(t *testing.T) {
	t.Parallel()
	for name := range strings.FieldsSeq(`gpt-5-mini-fast gpt-5-min gpt gpt-5-preview gpt-5-2025 my-gpt-5 groq/gpt-5
		anthropic/gpt-5 bedrock/claude-opus-5
		gpt-5:free gpt-5-mini-2025-13-99x llama3.1 mistral-large-latest openai/ / gpt-5/ openai/openai/gpt-5`) {
		_, ok := PriceOf(name)
		require.False(t, ok, name)
	}
	_, ok := PriceOf("")
	require.False(t, ok)
}

func TestTheTableNamesEveryModelOnceAtAPlausiblePrice(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, l := range lists {
		for _, r := range l.rows {
			p := l.price(r)
			require.Positive(t, p.Input+p.PerThousand, r.models)
			require.True(t, p.Output == 0 || p.Output >= p.Input, r.models)
			require.LessOrEqual(t, p.CachedInput, p.Input, r.models)
			require.GreaterOrEqual(t, p.CacheWrite, p.Input, r.models)
			for name := range strings.FieldsSeq(r.models) {
				require.False(t, seen[spelling(name)], name)
				seen[spelling(name)] = true
				found, ok := PriceOf(name)
				require.True(t, ok, name)
				require.Equal(t, p, found, name)
			}
		}
	}
	require.Greater(t, len(seen), 80)
	_, err := time.Parse(time.DateOnly, PricesAsOf())
	require.NoError(t, err)
}
