package cost

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Price is what a model's tokens cost, in micro-dollars per million tokens.
type Price struct {
	Input, Output MicroUSD
}

// maxPrice bounds a price in dollars per million tokens, so that sums of whole
// runs stay within an int64.
const maxPrice = 10_000

// ParsePrice reads "0.25/2": US dollars per million input and output tokens.
func ParsePrice(text string) (Price, error) {
	in, out, both := strings.Cut(text, "/")
	p := Price{Input: dollars(in), Output: dollars(out)}
	if !both || p.Input < 0 || p.Output < 0 {
		return Price{}, fmt.Errorf("%q is no price: write it as 0.25/2, in USD per million input and output tokens", text)
	}
	return p, nil
}

// dollars is an amount of dollars, -1 for a text that is none.
func dollars(text string) MicroUSD {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(v >= 0 && v <= maxPrice) {
		return -1
	}
	return MicroUSD(math.Round(v * 1e6))
}

// ParseUSD reads an amount in dollars, such as 2.50, greater than zero.
func ParseUSD(text string) (MicroUSD, error) {
	v := dollars(text)
	if v <= 0 {
		return 0, fmt.Errorf("%q is no amount in USD over 0 and up to %d, such as 2.50", text, maxPrice)
	}
	return v, nil
}

// Of is what a usage costs at this price, rounded up.
func (p Price) Of(u Usage) MicroUSD {
	const million = 1_000_000
	return (MicroUSD(u.InputTokens)*p.Input + MicroUSD(u.OutputTokens)*p.Output + million - 1) / million
}
