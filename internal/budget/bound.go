package budget

import (
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
)

// What a server puts around the texts of a request, in tokens at most.
const (
	frame     = 200
	turnFrame = 32
	toolFrame = 1_000 // instructions of its own about calling tools
)

// Bound is the most that a request can cost at a price: a token for each byte of
// its text, which no tokenizer exceeds, what the server puts around it, and the
// whole limit of output, at the dearest kind of input.
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

// Priced adds what a usage costs, where the server did not say.
func Priced(u cost.Usage, price *cost.Price) cost.Usage {
	if price != nil && u.Cost == 0 {
		u.Cost = price.Of(u)
	}
	return u
}

// What is guessed of a call: bytes of a token, and the tokens of a review's
// answer with its reasoning.
const (
	bytesPerToken = 4
	answerTokens  = 1_200
)

// Expected are calls of one kind that are about to be made.
type Expected struct {
	Times  int // how many; 0 is one
	Bytes  int // of each one's text: Request.Bytes
	Output int // tokens of each answer; 0 for as many as a review takes
}

// Estimate is about what calls will use, and what that costs where a price is
// given. It is a guess, not a bound.
func Estimate(calls []Expected, price *cost.Price) cost.Usage {
	var u cost.Usage
	for _, e := range calls {
		times, output := int64(max(e.Times, 1)), int64(e.Output)
		if output == 0 {
			output = answerTokens
		}
		u = cost.Add(u, cost.Usage{Calls: times, InputTokens: times * int64(e.Bytes/bytesPerToken),
			OutputTokens: times * output})
	}
	return Priced(u, price)
}
