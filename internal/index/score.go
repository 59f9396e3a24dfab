package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/org/pr-review-action/internal/chunk"
)

// Term is one thing that a question is about: a token, and behind it others that mean
// nearly the same. A chunk holds a term as often as it holds its tokens, each by its
// Weight; that number is saturated once, and a term is as rare as the chunks that
// hold any of its tokens are. So synonyms find what the word itself does not, and
// never count for more than it.
type Term []string

// Weight is what a term's token counts, by its place: a synonym less than the word that was asked.
func Weight(place int) float64 {
	if place == 0 {
		return 1
	}
	return 0.4
}

// Terms are the tokens of a text, each once, in the order in which they come first.
func Terms(text string) []Term {
	var all []Term
	seen := map[string]bool{}
	for _, token := range chunk.Tokens(text) {
		if !seen[token] {
			seen[token] = true
			all = append(all, Term{token})
		}
	}
	return all
}

// Of BM25: how soon more of a token counts no more, and how much length counts against.
const (
	k1 = 1.2
	b1 = 0.75
)

// scores are those of all chunks by terms (BM25): sizes says how many tokens each chunk
// has, mean what they have on average, held which chunks hold a token and how often.
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
		weight := idf(len(sizes), len(touched))
		for _, c := range touched {
			scores[c] += weight * saturated(times[c], float64(sizes[c])/mean)
			times[c] = 0
		}
	}
	return scores
}

func idf(all, with int) float64 {
	return math.Log(1 + (float64(all-with)+0.5)/(float64(with)+0.5))
}

// saturated is what a number of times counts in a chunk of a length, 1 being the mean.
func saturated(times, length float64) float64 {
	return times * (k1 + 1) / (times + k1*(1-b1+b1*length))
}

// best is the k largest scores above the least, equal ones in their order; where among is
// not nil, of those alone that it says yes to.
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
