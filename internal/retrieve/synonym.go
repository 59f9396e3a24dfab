package retrieve

import (
	_ "embed" // the table of synonyms
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
)

// synonyms holds groups of programming words with the same meaning: a question says
// "shut down", the code says Close. One group a line; a word may be in several.
//
//go:embed synonyms.txt
var synonyms string

// synonymsOf maps a token to the other tokens of its groups.
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

// withSynonyms returns a term with the synonyms of its first token added.
func withSynonyms(t index.Term) index.Term {
	for _, word := range synonymsOf[t[0]] {
		if !slices.Contains(t, word) {
			t = append(t, word)
		}
	}
	return t
}
