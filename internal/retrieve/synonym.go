package retrieve

import (
	_ "embed" // the table of synonyms
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
)

// synonymWeight is what a synonym counts for beside the word that was asked.
const synonymWeight = 0.4

// synonyms are words of programming that stand for one another: who asks says
// "shut down" where the code says Close. One group a line; a word may be in several.
//
//go:embed synonyms.txt
var synonyms string

// synonymsOf has, for a token, the tokens of its groups.
var synonymsOf = func() map[string][]string {
	of := map[string][]string{}
	for group := range strings.Lines(synonyms) {
		words := chunk.Tokens(group)
		for i, word := range words {
			of[word] = append(append(of[word], words[:i]...), words[i+1:]...)
		}
	}
	return of
}()

// addSynonyms adds what stands for a term's token.
func addSynonyms(t *index.Term) {
	seen := map[string]bool{t.Tokens[0]: true}
	for _, word := range synonymsOf[t.Tokens[0]] {
		if !seen[word] {
			seen[word] = true
			t.Tokens, t.Weights = append(t.Tokens, word), append(t.Weights, synonymWeight)
		}
	}
}
