package retrieve

import (
	_ "embed" // the table of synonyms
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
)

type question struct {
	text  string
	words []string // words that may be names in code
	uses  bool     // it asks who uses the only name in words
	path  string   // path of a pasted diff, if it names one
	hunks []diff.Hunk
	after bool // the index is known to have the new side of hunks
}

var referencesTo = pattern.Lazy(`(?i)^\s*(?:find\s+)?(?:references|callers|usages|uses)(?:\s+(?:to|of))?` +
	`\s*:?\s+([\p{L}_$][\p{L}\p{N}_$.:#]*)\s*$`)

// diffStart matches where a pasted diff begins: at a file's header or, without one, at a hunk.
var diffStart = pattern.Lazy(`(?m)^(?:diff --git |--- |@@ -)`)

// parseQuery returns the question that a query asks. In a diff only the first file counts; one that cannot be read is
// taken as words.
func parseQuery(query string) question {
	if m := referencesTo().FindStringSubmatch(query); m != nil {
		return question{text: lastPart(m[1]), words: []string{lastPart(m[1])}, uses: true}
	}
	q := question{text: query, words: chunk.Identifiers(query)}
	at := diffStart().FindStringIndex(query)
	if at == nil {
		return q
	}
	said, pasted, name := query[:at[0]], query[at[0]:], true
	if pasted[0] == '@' {
		pasted, name = "--- a/-\n+++ b/-\n"+pasted, false
	}
	files, err := diff.Parse(strings.NewReader(pasted), int64(len(pasted)))
	first := slices.IndexFunc(files, func(f diff.File) bool { return f.Patch != "" })
	if err != nil || first < 0 {
		return q
	}
	if q.hunks, _ = files[first].Hunks(); name { // which Parse has read
		q.path = files[first].Path
	}
	q.text = strings.Join(strings.Fields(said), " ") + "\n" + plain(q.hunks)
	return q
}

// isSentence reports whether a question is words, rather than a diff or a name's uses.
func (q question) isSentence() bool { return q.hunks == nil && !q.uses }

// plain returns the lines of hunks without their markers, only those of some kinds if any are given.
func plain(hunks []diff.Hunk, kinds ...diff.Op) string {
	var b strings.Builder
	for _, h := range hunks {
		for _, l := range h.Lines {
			if len(kinds) == 0 || slices.Contains(kinds, l.Op) {
				b.WriteString(l.Text + "\n")
			}
		}
	}
	return b.String()
}

// lastPart returns the last part of a qualified name: Serve for Server.Serve and a::Serve.
func lastPart(name string) string {
	return name[strings.LastIndexAny(name, ".:#")+1:]
}

// marks holds the characters that do not occur in ordinary words.
const marks = "_$0123456789"

// looksCoded reports whether a word is unlikely in a sentence: it has a capital letter after its first, and is no
// abbreviation such as URL, or a digit, _ or $.
func looksCoded(word string) bool {
	return strings.ContainsAny(word, marks) || word[1:] != strings.ToLower(word[1:]) && word != strings.ToUpper(word)
}

// terms returns the terms of the question, with synonyms if it is a sentence.
func (q question) terms() []index.Term {
	terms := index.Terms(q.text)
	if q.isSentence() {
		for i, t := range terms {
			terms[i] = order.Distinct(append(t, synonymsOf[t[0]]...))
		}
	}
	return terms
}

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
