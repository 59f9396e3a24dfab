package secret

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"

	"github.com/org/pr-review-action/internal/pattern"
)

var lazy = pattern.Lazy // most runs meet the keywords of only a few forms

// form is one format of a credential.
type form struct {
	kind          string
	grade         Grade
	keywords      []string // in lower case; one of them is near every match
	re            func() *regexp.Regexp
	group         int     // group of the credential; 0 for the longest, or the whole match
	name          int     // group of the name it is assigned to; 0 for none
	entropy       float64 // in bits per byte; a credential must have more
	allow         []allowance
	mayMatch      func(text string) bool // a cheap check for what every match contains; may be nil
	falsePositive func(m match) bool     // reports a false positive; may be nil
	mirrored      bool                   // also searched backwards
	longest       int                    // bytes after a keyword in which it is searched; 0 for behind
}

// match is one place where a form matches.
type match struct {
	text       string // the whole text
	whole      string // what the expression matched
	start, end int    // of the credential
	name       string
}

func (m match) secret() string { return m.text[m.start:m.end] }

// line returns the line in which the credential begins.
func (m match) line() string {
	from := strings.LastIndexByte(m.text[:m.start], '\n') + 1
	line, _, _ := strings.Cut(m.text[from:], "\n")
	return line
}

// allowance is one reason why a match is not a credential.
type allowance struct {
	target    string // "match", "line" or, for the credential, ""
	both      bool   // an expression and a word must match
	regexes   []func() *regexp.Regexp
	stopwords []string
}

func (a allowance) holds(m match) bool {
	target := m.secret()
	switch a.target {
	case "match":
		target = m.whole
	case "line":
		target = m.line()
	}
	fits := slices.ContainsFunc(a.regexes, func(re func() *regexp.Regexp) bool { return re().MatchString(target) })
	if fits != a.both {
		return fits
	}
	value := strings.ToLower(m.secret())
	return slices.ContainsFunc(a.stopwords, func(word string) bool { return strings.Contains(value, word) })
}

// entropy returns the Shannon entropy in bits per byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// digitInValue reports whether eight consecutive bytes with a digit among them may be a
// value. A guess without these is not a credential.
func digitInValue(text string) bool {
	length, digit := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case strings.IndexByte(" \t\n\f\r\"'`,;(){}[]<>$", c) >= 0:
			length, digit = 0, false
			continue
		case '0' <= c && c <= '9':
			digit = true
		}
		if length++; digit && length >= 8 {
			return true
		}
	}
	return false
}

// quotedValue reports whether quotes enclose eight or more bytes without a space.
func quotedValue(text string) bool {
	length := -1 // since the last quote; negative if there was none, or a space since
	for i := range len(text) {
		switch c := text[i]; {
		case strings.IndexByte("\"'`", c) >= 0:
			if length >= 8 {
				return true
			}
			length = 0
		case strings.IndexByte(" \t\n\f\r", c) >= 0:
			length = -1
		case length >= 0:
			length++
		}
	}
	return false
}

func isToken(c byte) bool { return isWord(c) || c == '-' }

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// lower lowers only ASCII letters, so that offsets stay.
func lower(s string) []byte {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// catalogue holds all forms, and the keywords that lead to them.
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

// forms builds the catalogue on first use: a program that searches no text does not pay for it.
var forms = sync.OnceValue(func() *catalogue { return newCatalogue(slices.Concat(gitleaksForms(), ownForms())) })

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
