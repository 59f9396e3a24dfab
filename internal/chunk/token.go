package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tokens are what words and code are compared by: each identifier in lower case,
// and its parts, cut where case or digits change and at _ and $, lightly stemmed,
// without parts of one letter and stop words.
func Tokens(text string) []string {
	var all []string
	for word := range words(text) {
		all = appendTokens(all, word)
	}
	return all
}

// Identifiers are the words of a text that may be names in code, each once, in the
// order in which they come.
func Identifiers(text string) []string {
	var all []string
	seen := map[string]bool{}
	for word := range words(text) {
		if first, _ := utf8.DecodeRuneInString(word); !seen[word] && !unicode.IsDigit(first) {
			seen[word] = true
			all = append(all, word)
		}
	}
	return all
}

// words are the runs of letters, digits, _ and $.
func words(text string) func(yield func(string) bool) {
	return strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// appendTokens adds the tokens of one word.
func appendTokens(to []string, word string) []string {
	whole := strings.ToLower(strings.Trim(word, "_$"))
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
		to = append(to, whole)
	}
	return to
}

// partEnd is the length of the first part of a word: up to a change from small to
// capital letters, from a run of capitals to a word, between letters and digits, or
// behind _ and $.
func partEnd(word string) int {
	var before rune
	for i, r := range word {
		next, _ := utf8.DecodeRuneInString(word[i+utf8.RuneLen(r):])
		switch {
		case i == 0:
		case r == '_' || r == '$':
			return i + 1
		case unicode.IsUpper(r) && !unicode.IsUpper(before),
			unicode.IsUpper(r) && unicode.IsUpper(before) && unicode.IsLower(next),
			unicode.IsDigit(r) != unicode.IsDigit(before) && !unicode.IsUpper(r):
			return i
		}
		before = r
	}
	return len(word)
}

// stem drops the commonest English endings; it is meant to be predictable, not right.
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
	longer int // bytes a word must have more than
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
