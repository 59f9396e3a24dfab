package cost

import (
	"encoding/json"
	"testing"

	strict "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

func TestCallsWithoutAPriceAreCounted(t *testing.T) {
	t.Parallel()
	sum := Add(Usage{Calls: 2, Cost: 5}, Usage{Calls: 3, Unpriced: 3})
	require.Equal(t, Usage{Calls: 5, Unpriced: 3, Cost: 5}, sum)
}

func TestMoneyIsShownInDollars(t *testing.T) {
	t.Parallel()
	for amount, want := range map[MicroUSD]string{
		0: "$0.00", 1: "$0.000001", 100: "$0.0001", 3_100: "$0.0031", 9_900: "$0.0099", 10_000: "$0.01", 210_000: "$0.21",
		1_234_567_890: "$1234.57",
	} {
		require.Equal(t, want, amount.String())
	}
}

func TestP9_UsagesAddUpInEveryField(t *testing.T) {
	t.Parallel()
	a, b := Usage{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, Usage{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}
	require.Equal(t, Usage{11, 22, 33, 44, 55, 66, 77, 88, 99, 110}, Add(a, b))
	require.Equal(t, Add(a, b), Add(b, a))
	require.Equal(t, a, Add(a, Usage{}))
	require.EqualValues(t, 55, Add(a, b).Tokens(), "parts are counted in their wholes already")
}

func TestAUsageThatWasKeptEarlierIsReadAndWrittenAsItWas(t *testing.T) {
	t.Parallel()
	const kept = `{"input_tokens":1,"cached_tokens":2,"output_tokens":3,"calls":4,"cost_microusd":5}`
	var u Usage
	require.NoError(t, strict.Unmarshal([]byte(kept), &u, strict.RejectUnknownMembers(true)))
	require.Equal(t, Usage{InputTokens: 1, CachedTokens: 2, OutputTokens: 3, Calls: 4, Cost: 5}, u)
	text, err := json.Marshal(u)
	require.NoError(t, err)
	require.Equal(t, kept, string(text))
	text, err = strict.Marshal(Usage{CacheWriteTokens: 6, ReasoningTokens: 7})
	require.NoError(t, err)
	require.Equal(t, `{"input_tokens":0,"cached_tokens":0,"cache_write_tokens":6,"output_tokens":0`+
		`,"reasoning_tokens":7,"calls":0,"cost_microusd":0}`, string(text))
}
