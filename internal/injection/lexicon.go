package injection

import (
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/order"
)

// concept is what a word can mean, in any language.
type concept uint8

const (
	machine   concept = iota // can only be a model
	agent                    // may be a model
	reviewer                 // a reviewer, model or person
	person                   // the person to deceive
	you                      // the reader
	not                      // negation and absence
	report                   // to report
	inspect                  // to review
	skip                     // to leave out
	rules                    // the reader's instructions
	prior                    // earlier
	all                      // every
	findings                 // what a review finds
	clean                    // without defects
	empty                    // nothing in it
	say                      // to answer
	jsonForm                 // the format of an answer
	verdict                  // the value of an answer
	already                  // done before
	modal                    // must, should, please
	role                     // whom the reader should be
	leak                     // what the reader should keep private
	call                     // to use a tool
	tool                     // a tool's name
	send                     // to pass on
	secret                   // what must not leak
	target                   // what is under review
	authority                // a claimed authority
	urge                     // pressure
	dear                     // a salutation
	toward                   // for, to
	cond                     // if, when
	answer                   // where an answer goes
	always                   // regardless of findings
	deem                     // to consider as
	defence                  // talk about attacks
	story                    // a user story
	turn                     // a forged turn of a conversation
	fence                    // a forged end of the data
	addr                     // a web address
)

// set is a set of concepts as bits.
type set uint64

func setOf(list ...concept) (s set) {
	for _, c := range list {
		s |= 1 << c
	}
	return s
}

func (s set) has(c concept) bool { return s&(1<<c) != 0 }

//go:embed lexicon
var lexicons embed.FS

// names lists the words that begin a lexicon's lines, in the order of the concepts.
var names = strings.Fields("machine agent reviewer person you not report inspect skip rules prior all finding clean " +
	"empty say json verdict already modal role leak call tool send secret target authority urge dear for cond answer " +
	"always deem defence story")

// phrase is one entry: consecutive words, each exact or, if open, a prefix.
type phrase struct {
	words []string
	open  []bool
	means set
}

// dictionary finds entries by the first characters of their first word.
type dictionary struct {
	spaced   map[string][]phrase // by their first three characters
	unspaced map[rune][]phrase   // single words that match anywhere
}

var words = sync.OnceValue(func() dictionary {
	d := dictionary{map[string][]phrase{}, map[rune][]phrase{}}
	files, _ := lexicons.ReadDir("lexicon")
	for _, file := range files {
		text, _ := lexicons.ReadFile("lexicon/" + file.Name())
		for line := range strings.Lines(string(text)) {
			d.add(strings.Fields(line))
		}
	}
	for _, list := range d.spaced {
		order.Stable(list, func(a, b phrase) int { return len(b.words) - len(a.words) })
	}
	for _, list := range d.unspaced {
		order.Stable(list, func(a, b phrase) int { return len(b.words[0]) - len(a.words[0]) })
	}
	return d
})

func (d dictionary) add(fields []string) {
	if len(fields) == 0 || fields[0] == "#" {
		return
	}
	means := setOf(concept(slices.Index(names, fields[0])))
	for _, entry := range fields[1:] {
		entry = fold(entry)
		if r, _ := utf8.DecodeRuneInString(entry); isUnspaced(r) {
			d.unspaced[r] = append(d.unspaced[r], phrase{words: []string{strings.ReplaceAll(entry, "_", " ")},
				means: means})
			continue
		}
		p := phrase{means: means}
		for word := range strings.SplitSeq(entry, "_") {
			stem, open := strings.CutSuffix(word, "*")
			p.words, p.open = append(p.words, stem), append(p.open, open)
		}
		d.spaced[key(p.words[0])] = append(d.spaced[key(p.words[0])], p)
	}
}

// key returns the first three characters of a word, which index the entries. A shorter stem has its own key.
func key(word string) string {
	size := 0
	for range 3 {
		_, n := utf8.DecodeRuneInString(word[size:])
		size += n
	}
	return word[:size]
}

func isUnspaced(r rune) bool {
	return r >= 0x590 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Arabic,
		unicode.Hebrew, unicode.Devanagari, unicode.Thai)
}

// inWord reports whether entries of a script match only at the start of a word, or after at
// most two letters of prefixes.
func inWord(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Devanagari)
}
