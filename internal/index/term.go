package index

import "github.com/org/pr-review-action/internal/chunk"

// Term is one thing that a question is about: a token, and others that mean nearly
// the same. A chunk holds a term as often as it holds its tokens, each by its
// weight; that number is saturated once, and a term is as rare as the chunks that
// hold any of its tokens are. So synonyms find what the word itself does not, and
// never count for more than it.
type Term struct {
	Tokens  []string
	Weights []float64 // of each token; 1 for the first
	Count   int       // how often the question has the first token, from 1
}

// Terms are the tokens of a text, each once with how often it comes, in the order in
// which they come first.
func Terms(text string) []Term {
	var all []Term
	at := map[string]int{}
	for _, token := range chunk.Tokens(text) {
		i, ok := at[token]
		if !ok {
			i = len(all)
			at[token] = i
			all = append(all, Term{Tokens: []string{token}, Weights: []float64{1}})
		}
		all[i].Count++
	}
	return all
}
