package aggregate

import (
	"slices"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/guard"
)

// wording is a finding's claim in the form in which wordings are compared.
type wording struct {
	title string   // folded
	words []string // stems of the title's meaningful words, without repeats
	quote string   // the line, folded
	code  []string // words of the line
}

func wordingOf(title, quote string) wording {
	return wording{title: foldTitle(title), words: stems(foldTitle(title)), quote: foldLine(quote),
		code: stems(foldTitle(foldLine(quote)))}
}

// sameClaim reports whether two titles about one line mean the same defect: they are equal, or share enough words.
// Words of the line itself do not count, because every defect of a line mentions its names, and neither does the
// category, because a line may have two defects of one kind.
func sameClaim(a, b wording) bool {
	if a.title == "" || b.title == "" {
		return false
	}
	if a.title == b.title {
		return true
	}
	code := slices.Concat(a.code, b.code)
	one, other := wordsWithout(a.words, code), wordsWithout(b.words, code)
	if len(one) == 0 || len(other) == 0 { // the line, or a comment in it, has all of the title's words
		return likeness(a.words, b.words) >= alikeLines
	}
	return likeness(one, other) >= alikeClaims
}

// How similar titles, and lines, must be. The first value was chosen with the pairs of likeness_test.go: of 0.3 to
// 0.5, none filters a new finding there.
const (
	alikeClaims = 0.4
	alikeLines  = 0.6
)

// likeness returns twice the number of shared words divided by the number of all words; 0 without words.
func likeness(one, other []string) float64 {
	shared := len(one) - len(wordsWithout(one, other))
	return 2 * float64(shared) / float64(max(1, len(one)+len(other)))
}

func wordsWithout(words, taken []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(taken, w) })
}

// stems returns the meaningful words of a folded text, without their endings.
func stems(text string) []string {
	var all []string
	small := strings.Fields(smallWords)
	for _, w := range strings.Fields(text) {
		if len(w) < 3 || slices.Contains(small, w) {
			continue
		}
		if w = stem(w); !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

const smallWords = "the and for but not are was has had have this that these those with without from into onto when " +
	"where while which will would " +
	"can could may might should does did its any all only also before after here there then than been being never " +
	"always still"

// stem removes the endings of verbs and plurals: dropped, drops and dropping have one stem.
func stem(w string) string {
	for _, ending := range []string{"ings", "ing", "ied", "ies", "ed", "es", "s", "e", "y"} {
		if cut := strings.TrimSuffix(w, ending); cut != w && len(cut) >= 3 {
			w = cut
			break
		}
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] {
		w = w[:n-1]
	}
	return w
}

// foldTitle folds a title to letters and digits in lower case.
func foldTitle(title string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return r < '0' || r > '9' && r < 'a' || r > 'z' && r < 0x80
	}), " ")
}

// foldLine returns a line of code in the form in which versions are compared.
func foldLine(line string) string {
	line = guard.Visible(line)
	if r := []rune(line); len(r) > maxQuote {
		line = string(r[:maxQuote])
	}
	return strings.Join(strings.Fields(line), " ")
}

// distinctive reports whether a line differs from most others: a brace or a bare return is everywhere.
func distinctive(quote string) bool { return letters(quote) >= minTelling }

func letters(quote string) (n int) {
	for _, c := range quote {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			n++
		}
	}
	return n
}

// maxQuote is the number of characters that identify a line; package recall keeps as many.
const maxQuote = 300

// How many letters and digits a line needs: to be known again, and to be missed where it stood.
const (
	minTelling = 8
	minMissed  = 5
)
