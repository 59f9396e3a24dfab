package budget

import (
	"cmp"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
)

// Upper bounds on what a server adds around the texts of a request, in tokens.
const (
	frame     = 200
	turnFrame = 32
	toolFrame = 1_000 // its own instructions on calling tools
)

// Bound returns the most that a request can cost at a price. It counts one token
// per byte of text, which no tokenizer exceeds, what the server adds, and the
// whole output limit, all input at the most expensive input price.
func Bound(r llm.Request, price cost.Price) cost.MicroUSD {
	input := frame + r.Bytes() + turnFrame*(len(r.Turns)+len(r.Tools))
	for _, t := range r.Turns {
		input += turnFrame * len(t.ToolCalls)
	}
	if len(r.Tools) > 0 {
		input += toolFrame
	}
	return price.AtMost(int64(input), int64(r.MaxTokens))
}

// Priced returns the usage with its cost at a price, unless the server reported the cost.
func Priced(u cost.Usage, price *cost.Price) cost.Usage {
	if price != nil && u.Cost == 0 {
		u.Cost = price.Of(u)
	}
	return u
}

// Guesses about a call: bytes per token, and the tokens of a review's answer
// including reasoning.
const (
	bytesPerToken = 4
	answerTokens  = 1_200
)

// Expected describes calls of one kind that are about to be made.
type Expected struct {
	Times  int // number of calls; 0 means 1
	Bytes  int // of the text of each call: Request.Bytes
	Output int // tokens of each answer; 0 for those of a typical review
}

// Estimate returns approximately what calls will use and, if a price is given,
// cost. It is a guess, not a bound.
func Estimate(calls []Expected, price *cost.Price) cost.Usage {
	var u cost.Usage
	for _, e := range calls {
		times, output := int64(max(e.Times, 1)), int64(cmp.Or(e.Output, answerTokens))
		u = cost.Add(u, cost.Usage{Calls: times, InputTokens: times * int64(e.Bytes/bytesPerToken),
			OutputTokens: times * output})
	}
	return Priced(u, price)
}
