package secret

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
)

// pattern is a regular expression that is compiled when it is first used: most
// runs meet the keywords of few forms.
type pattern func() *regexp.Regexp

func lazy(expr string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// form is one way in which a credential is written.
type form struct {
	kind     string
	grade    Grade
	keywords []string // in lower case; one of them stands near every match
	re       pattern
	group    int     // of the credential; 0 for the first that took part, else the whole match
	name     int     // group of the name that it is given to; 0 for none
	entropy  float64 // in bits a character; what has no more is no credential
	allow    []allowance
	needs    func(text string) bool // a quick look for what every match has; nil for none
	readable func(m match) bool     // reports what only looks like a credential; nil for nothing
	mirrored bool                   // looked for backwards, too
}

// catalogue is every form, with the keywords that lead to them.
type catalogue struct {
	forms  []form
	kinds  map[string]bool
	trie   *ahocorasick.Trie
	owners [][]owner // by the trie's pattern number
}

// owner is a form that a keyword leads to.
type owner struct {
	form     int
	backward bool
}

// forms is built when the first text is looked at: a program that looks at none
// pays nothing.
var forms = sync.OnceValue(func() *catalogue {
	kept, err := gitleaks()
	if err != nil {
		panic(fmt.Sprintf("the embedded list of credentials: %v", err)) // a broken build
	}
	return newCatalogue(slices.Concat(kept, own()))
})

func newCatalogue(all []form) *catalogue {
	c := &catalogue{forms: all, kinds: map[string]bool{keyKind: true, knownKind: true}}
	numbers := map[string]int{}
	builder := ahocorasick.NewTrieBuilder()
	lead := func(keyword string, o owner) {
		n, seen := numbers[keyword]
		if !seen {
			n = len(c.owners)
			numbers[keyword] = n
			c.owners = append(c.owners, nil)
			builder.AddString(keyword)
		}
		c.owners[n] = append(c.owners[n], o)
	}
	for i, f := range all {
		c.kinds[f.kind] = true
		for _, k := range f.keywords {
			lead(k, owner{form: i})
			if f.mirrored {
				lead(reversed(k), owner{form: i, backward: true})
			}
		}
	}
	c.trie = builder.Build()
	return c
}

// ours reports whether a mark of this kind is one of ours.
func ours(kind string) bool { return forms().kinds[kind] }

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// lower folds ASCII alone, so that offsets stay.
func lower(s string) []byte {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// match is one place where a form fits.
type match struct {
	text       string // all of it
	whole      string // what the expression took
	start, end int    // of the credential
	name       string
}

func (m match) secret() string { return m.text[m.start:m.end] }

// line is all of the line that the credential begins in.
func (m match) line() string {
	from := strings.LastIndexByte(m.text[:m.start], '\n') + 1
	line, _, _ := strings.Cut(m.text[from:], "\n")
	return line
}
