// Package cost counts what a run used: tokens, calls and money.
//
// Money is an integer number of micro-dollars, so that sums are exact and a cap
// means the same on every machine. The package contains a dated table of the prices
// of common models, and makes no requests. Start reading at Usage and Price.
package cost

import (
	"errors"
	"fmt"
)

// The reasons why no further call is made.
var (
	// ErrSpent reports that no money is left under the cap of the run.
	ErrSpent = errors.New("the budget was spent")
	// ErrFileSpent reports that no money is left under the cap of one file.
	ErrFileSpent = errors.New("the budget of the file was spent")
)

// MicroUSD is an amount of money in millionths of a US dollar.
type MicroUSD int64

// String returns the amount in dollars with two decimals, or with four or six if
// it would otherwise round to nothing: $0.21, $0.0031, $0.000007.
func (m MicroUSD) String() string {
	decimals := 2
	for least := MicroUSD(10_000); m != 0 && m > -least && m < least; least /= 100 {
		decimals += 2
	}
	return fmt.Sprintf("$%.*f", decimals, float64(m)/1e6)
}

// Usage is what one or more model calls used, as reported by the provider.
// CachedTokens, read from the provider's cache, and CacheWriteTokens, written to it,
// are included in InputTokens; ReasoningTokens are included in OutputTokens.
// EmbeddingTokens, which cover rerankers that bill by tokens, are not included in
// InputTokens; a unit of RerankUnits is one search as rerankers bill it. Calls counts
// billed requests, including retries.
type Usage struct {
	InputTokens      int64    `json:"input_tokens"`
	CachedTokens     int64    `json:"cached_tokens"`
	CacheWriteTokens int64    `json:"cache_write_tokens,omitzero"`
	OutputTokens     int64    `json:"output_tokens"`
	ReasoningTokens  int64    `json:"reasoning_tokens,omitzero"`
	EmbeddingTokens  int64    `json:"embedding_tokens,omitzero"`
	RerankUnits      int64    `json:"rerank_units,omitzero"`
	Calls            int64    `json:"calls"`
	Unpriced         int64    `json:"unpriced_calls,omitzero"` // of Calls: price unknown, so not in Cost
	Cost             MicroUSD `json:"cost_microusd"`
}

// Add returns the field-wise sum of two usages.
func Add(a, b Usage) Usage {
	return Usage{
		InputTokens:      a.InputTokens + b.InputTokens,
		CachedTokens:     a.CachedTokens + b.CachedTokens,
		CacheWriteTokens: a.CacheWriteTokens + b.CacheWriteTokens,
		OutputTokens:     a.OutputTokens + b.OutputTokens,
		ReasoningTokens:  a.ReasoningTokens + b.ReasoningTokens,
		EmbeddingTokens:  a.EmbeddingTokens + b.EmbeddingTokens,
		RerankUnits:      a.RerankUnits + b.RerankUnits,
		Calls:            a.Calls + b.Calls,
		Unpriced:         a.Unpriced + b.Unpriced,
		Cost:             a.Cost + b.Cost,
	}
}

// Known returns the cost, or nil if no price is known.
func (u Usage) Known() *MicroUSD {
	if u.Unpriced > 0 && u.Cost == 0 {
		return nil
	}
	return &u.Cost
}

// Tokens returns the number of a model's input and output tokens together.
func (u Usage) Tokens() int64 { return u.InputTokens + u.OutputTokens }

// Measured reports whether a server reported an amount, so that the usage can be priced.
func (u Usage) Measured() bool {
	return u.InputTokens > 0 || u.EmbeddingTokens > 0 || u.RerankUnits > 0
}
