package cost

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Price is what a model's tokens cost, in micro-dollars per million tokens.
// CachedInput applies to tokens read from the provider's cache, CacheWrite to
// tokens written to it. Embeddings cost Input; PerThousand is a reranker's price
// for a thousand searches.
type Price struct {
	Input       MicroUSD `json:"input"`
	CachedInput MicroUSD `json:"cached_input"`
	Output      MicroUSD `json:"output"`
	CacheWrite  MicroUSD `json:"cache_write"`
	PerThousand MicroUSD `json:"per_thousand,omitzero"`
}

// MaxUSD bounds the amounts that can be parsed: dollars, or dollars per million tokens.
const MaxUSD = 10_000

const million = 1_000_000

// ParseUSD parses an amount in dollars, such as 2.50, greater than zero.
func ParseUSD(text string) (MicroUSD, error) {
	v, ok := USD(text)
	if !ok || v == 0 {
		return 0, fmt.Errorf("%q is not an amount in USD over 0 and up to %d, such as 2.50", text, MaxUSD)
	}
	return v, nil
}

// USD parses an amount from 0 to MaxUSD dollars, rounded to the nearest micro-dollar.
func USD(text string) (MicroUSD, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(v >= 0 && v <= MaxUSD) {
		return 0, false
	}
	return MicroUSD(math.Round(v * million)), true
}

// Of returns the cost of a usage at this price, rounded up once. A part larger
// than its whole is cut, and a sum beyond an int64 returns the largest int64.
func (p Price) Of(u Usage) MicroUSD {
	cached := clamp(u.CachedTokens, u.InputTokens)
	written := clamp(u.CacheWriteTokens, u.InputTokens-cached)
	var s sum
	s.add(u.InputTokens-cached-written, p.Input)
	s.add(cached, p.CachedInput)
	s.add(written, p.CacheWrite)
	s.add(u.OutputTokens, p.Output)
	s.add(u.EmbeddingTokens, p.Input)
	s.add(min(max(u.RerankUnits, 0), math.MaxInt64/1_000)*1_000, p.PerThousand)
	return s.perMillion()
}

func clamp(part, whole int64) int64 { return max(min(part, whole), 0) }

// AtMost returns the most that these input and output tokens can cost, with all
// input at the most expensive of its three prices.
func (p Price) AtMost(input, output int64) MicroUSD {
	p.Input = max(p.Input, p.CachedInput, p.CacheWrite)
	return p.Of(Usage{InputTokens: input, OutputTokens: output})
}

// sum is a 128-bit amount, so that no product of a price and a number of tokens
// overflows.
type sum struct{ high, low uint64 }

func (s *sum) add(tokens int64, price MicroUSD) {
	high, low := bits.Mul64(uint64(max(tokens, 0)), uint64(max(price, 0)))
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high += high + carry
}

func (s sum) perMillion() MicroUSD {
	if s.high >= million/2 { // the quotient would not fit into 63 bits
		return math.MaxInt64
	}
	quotient, rest := bits.Div64(s.high, s.low, million)
	if rest > 0 {
		quotient++
	}
	return MicroUSD(min(quotient, math.MaxInt64))
}
