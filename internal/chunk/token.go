package chunk

import (
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/order"
)

// Tokens returns the lower-case tokens by which questions and code are compared: the
// parts of each word, split at _ and $ and where case or digits change, then the whole
// word if it has several. Parts are lightly stemmed; stop words and single bytes are dropped.
func Tokens(text string) (all []string) {
	for word := range words(text) {
		all = appendTokens(all, word)
	}
	return all
}

// Fit returns how well each path fits a text: how many words they share, of which those that fewer paths have count
// more.
func Fit(paths []string, text string) map[string]float64 {
	asked := order.Distinct(Tokens(text))
	if len(asked) == 0 {
		return nil
	}
	with := map[string][]string{} // the paths that have a word
	for _, p := range paths {
		for _, t := range order.Distinct(Tokens(p)) {
			with[t] = append(with[t], p)
		}
	}
	fit := map[string]float64{}
	for _, t := range asked {
		for _, p := range with[t] {
			fit[p] += math.Log(1 + float64(len(paths))/float64(len(with[t])))
		}
	}
	return fit
}

// Identifiers returns the words of a text that may be names in code, each once, in
// order of appearance.
func Identifiers(text string) []string {
	return order.Distinct(slices.DeleteFunc(slices.Collect(words(text)), func(word string) bool {
		first, _ := utf8.DecodeRuneInString(word)
		return unicode.IsDigit(first)
	}))
}

// words yields the runs of letters, digits, _ and $.
func words(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func appendTokens(to []string, word string) []string {
	parts := 0
	for rest := word; rest != ""; {
		n := partEnd(rest)
		part := strings.ToLower(strings.Trim(rest[:n], "_$"))
		rest = rest[n:]
		if part == "" {
			continue
		}
		parts++
		if len(part) > 1 && !stopWords[part] {
			to = append(to, stem(part))
		}
	}
	if parts > 1 {
		to = append(to, strings.ToLower(strings.Trim(word, "_$")))
	}
	return to
}

// partEnd returns the length of a word's first part in bytes. A part ends before a capital
// that follows a non-capital or begins a word after a run of capitals, between letters and
// digits, and after _ or $.
func partEnd(word string) int {
	var before rune
	for i, r := range word {
		next, _ := utf8.DecodeRuneInString(word[i+utf8.RuneLen(r):])
		switch {
		case i == 0:
		case r == '_' || r == '$':
			return i + 1
		case unicode.IsUpper(r) && (!unicode.IsUpper(before) || unicode.IsLower(next)),
			unicode.IsDigit(r) != unicode.IsDigit(before) && !unicode.IsUpper(r):
			return i
		}
		before = r
	}
	return len(word)
}

// stem removes the most common English endings. It is meant to be predictable, not right.
func stem(word string) string {
	for _, e := range endings {
		if root, ok := strings.CutSuffix(word, e.suffix); ok && len(word) > e.longer && !strings.HasSuffix(word, "ss") {
			return root + e.with
		}
	}
	return word
}

var endings = []struct {
	suffix string
	longer int // a word must have more bytes than this
	with   string
}{{"ies", 5, "y"}, {"ing", 5, ""}, {"ed", 4, ""}, {"es", 4, ""}, {"s", 3, ""}, {"e", 4, ""}}

var stopWords = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq("a an and are as at be been both but by for from has have how in into is it " +
		"its not of on one only or our per so than that the their them then they this to up was were what when where " +
		"whether which who with given find references") {
		all[word] = true
	}
	return all
}()
