package retrieve

import (
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/pattern"
)

// question is a query as it was understood.
type question struct {
	text  string
	words []string // that may be names in code
	uses  bool     // asks who uses the one name
	path  string   // of a pasted diff, where it names one
	hunks []diff.Hunk
}

var referencesTo = pattern.Lazy(`(?i)^\s*(?:find\s+)?(?:references|callers|usages|uses)(?:\s+(?:to|of))?` +
	`\s*:?\s+([\p{L}_$][\p{L}\p{N}_$.:#]*)\s*$`)

var newPath = pattern.Lazy(`(?m)^\+\+\+ (?:b/)?([^\t\n]+)`)

// ask reads a query. A diff that cannot be read is words.
func ask(query string) question {
	if m := referencesTo().FindStringSubmatch(query); m != nil {
		return question{text: lastPart(m[1]), words: []string{lastPart(m[1])}, uses: true}
	}
	q := question{text: query, words: chunk.Identifiers(query)}
	if at := hunkAt(query); at >= 0 {
		if hunks, err := diff.Hunks(hunksAlone(query[at:])); err == nil && len(hunks) > 0 {
			q.hunks = hunks
			if m := newPath().FindStringSubmatch(query[:at]); m != nil {
				q.path = strings.TrimSpace(m[1])
			}
			q.text = headline(query[:at]) + "\n" + plain(hunks)
		}
	}
	return q
}

// hunkAt is the offset of the first hunk's header, -1 for none.
func hunkAt(query string) int {
	if strings.HasPrefix(query, "@@ -") {
		return 0
	}
	if i := strings.Index(query, "\n@@ -"); i >= 0 {
		return i + 1
	}
	return -1
}

// hunksAlone are the hunks of a diff's first file.
func hunksAlone(patch string) string {
	for _, next := range []string{"\ndiff --git ", "\n--- "} {
		if i := strings.Index(patch, next); i >= 0 {
			patch = patch[:i]
		}
	}
	return strings.TrimRight(patch, "\n")
}

// headline is what was said above a diff, without the diff's own headers.
func headline(above string) string {
	var said []string
	for line := range strings.Lines(above) {
		if !diffHeader().MatchString(line) {
			said = append(said, strings.TrimSpace(line))
		}
	}
	return strings.Join(said, " ")
}

var diffHeader = pattern.Lazy(`^(?:diff --git|index |--- |\+\+\+ |new file|deleted file|old mode|new mode` +
	`|similarity` +
	`|rename )`)

// plain is the text of hunks.
func plain(hunks []diff.Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		for _, l := range h.Lines {
			b.WriteString(l.Text + "\n")
		}
	}
	return b.String()
}

// lastPart is a name without what it belongs to: Serve of Server.Serve and a::Serve.
func lastPart(name string) string {
	return name[strings.LastIndexAny(name, ".:#")+1:]
}

// marks are characters that words of a sentence have not.
const marks = "_$0123456789"

// looksCoded reports whether a word can hardly be one of a sentence: it has a
// capital letter behind its first letter, a digit, _ or $.
func looksCoded(word string) bool {
	return strings.ContainsAny(word, marks) || word[1:] != strings.ToLower(word[1:])
}

// terms are the words of the question, with synonyms where it is a sentence.
func (q question) terms() []index.Term {
	terms := index.Terms(q.text)
	if q.hunks == nil && !q.uses {
		for i := range terms {
			addSynonyms(&terms[i])
		}
	}
	return terms
}
