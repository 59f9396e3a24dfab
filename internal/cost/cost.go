// Package cost counts what a run used: tokens, calls and money.
//
// Money is an integer number of micro-dollars, so that sums are exact and a
// cap means the same on every machine. The package knows no prices.
package cost

import "fmt"

// MicroUSD is an amount of money in millionths of a US dollar.
type MicroUSD int64

// String gives the amount in dollars with two decimals, or four where the
// amount is under a cent: $0.21, $0.0031.
func (m MicroUSD) String() string {
	if m != 0 && m > -10_000 && m < 10_000 {
		return fmt.Sprintf("$%.4f", float64(m)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(m)/1e6)
}

// Usage is what one or more model calls used, as the provider reported it.
// Calls counts requests that were billed, retries included.
type Usage struct {
	InputTokens  int64    `json:"input_tokens"`
	CachedTokens int64    `json:"cached_tokens"`
	OutputTokens int64    `json:"output_tokens"`
	Calls        int64    `json:"calls"`
	Cost         MicroUSD `json:"cost_microusd"`
}

// Add returns the field-wise sum of two usages.
func Add(a, b Usage) Usage {
	return Usage{
		InputTokens:  a.InputTokens + b.InputTokens,
		CachedTokens: a.CachedTokens + b.CachedTokens,
		OutputTokens: a.OutputTokens + b.OutputTokens,
		Calls:        a.Calls + b.Calls,
		Cost:         a.Cost + b.Cost,
	}
}

// Tokens is the number of input and output tokens together.
func (u Usage) Tokens() int64 { return u.InputTokens + u.OutputTokens }
