package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/order"
)

// Term is a token of a question, followed by tokens that mean nearly the same. A chunk's
// count of a term is the sum of the counts of its tokens, each times its Weight. The sum
// is saturated once, and the term's rarity comes from the number of chunks that hold any
// of the tokens. So synonyms find chunks that the word itself does not, and never count
// for more than the word.
type Term []string

// Weight returns the weight of a term's token by its place: the queried word counts more than a synonym.
func Weight(place int) float64 {
	if place == 0 {
		return 1
	}
	return 0.4
}

// Terms returns a term for each distinct token of a text, in order of first occurrence.
func Terms(text string) []Term {
	var all []Term
	for _, token := range chunk.Tokens(text) {
		all = append(all, Term{token})
	}
	return order.Unique(all, func(t Term) string { return t[0] })
}

// Parameters of BM25: how fast repetitions saturate, and how much a long chunk is penalized.
const (
	k1 = 1.2
	b1 = 0.75
)

// scores returns the BM25 score of each chunk for the terms. sizes is the number of tokens
// of each chunk, mean their average, and held the counts of each token.
func scores(terms []Term, sizes []uint32, mean float64, held map[string][]count) []float64 {
	scores := make([]float64, len(sizes))
	times, touched := make([]float64, len(sizes)), []int32(nil)
	for _, term := range terms {
		touched = touched[:0]
		for i, token := range term {
			for _, c := range held[token] {
				if times[c.chunk] == 0 {
					touched = append(touched, c.chunk)
				}
				times[c.chunk] += Weight(i) * float64(c.times)
			}
		}
		all, with := float64(len(sizes)), float64(len(touched))
		rarity := math.Log(1 + (all-with+0.5)/(with+0.5))
		for _, c := range touched {
			scores[c] += rarity * saturated(times[c], float64(sizes[c])/mean)
			times[c] = 0
		}
	}
	return scores
}

// saturated returns BM25's saturated count; length is relative to the mean length.
func saturated(times, length float64) float64 {
	return times * (k1 + 1) / (times + k1*(1-b1+b1*length))
}

// best returns the k largest scores above least, ties in order of place. If among is not
// nil, only places for which it is true count.
func best(scores []float64, least float64, k int, among []bool) []Near {
	var all []Near
	worse := func(a, b Near) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Place, b.Place)) }
	for i, s := range scores {
		if s <= least || k <= 0 || len(all) == k && s <= all[k-1].Score || among != nil && !among[i] {
			continue
		}
		if len(all) == k {
			all = all[:k-1]
		}
		at, _ := slices.BinarySearchFunc(all, Near{i, s}, worse)
		all = slices.Insert(all, at, Near{i, s})
	}
	return all
}
