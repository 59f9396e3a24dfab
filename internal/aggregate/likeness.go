package aggregate

import (
	"slices"
	"strings"
)

// claimed is what a finding claims, as it is compared with another wording of it.
type claimed struct {
	title string   // folded
	words []string // of the title that mean something, by their stems, each once
	quote string   // the line, folded
	code  []string // words of the line
}

func claimOf(title, quote string) claimed {
	return claimed{title: claim(title), words: stems(claim(title)), quote: folded(quote), code: stems(claim(folded(quote)))}
}

// sameClaim reports whether two titles about one line mean one defect. They do
// where they are equal, or share a good part of their words. Words of the line
// itself count for nothing, since every defect of a line is about its names, and
// neither does the category, since a line may have two defects of one kind.
func sameClaim(a, b claimed) bool {
	if a.title == "" || b.title == "" {
		return false
	}
	if a.title == b.title {
		return true
	}
	code := slices.Concat(a.code, b.code)
	one, other := without(a.words, code), without(b.words, code)
	if len(one) == 0 || len(other) == 0 { // the line, or a comment in it, says what the title says
		return likeness(a.words, b.words) >= alikeLines
	}
	return likeness(one, other) >= alikeClaims
}

// How alike titles, and lines, must be. The first was chosen on the pairs of
// likeness_test.go: of 0.3 to 0.5, none swallows a new finding there.
const (
	alikeClaims = 0.4
	alikeLines  = 0.6
)

// likeness is twice the shared words by the words of both, 0 without words.
func likeness(one, other []string) float64 {
	shared := len(one) - len(without(one, other))
	return 2 * float64(shared) / float64(max(1, len(one)+len(other)))
}

// alike reports whether a line may be another version of one that is gone.
func alike(a, b string) bool {
	return likeness(strings.Fields(claim(a)), strings.Fields(claim(b))) >= alikeLines
}

func without(words, taken []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(taken, w) })
}

// stems are the words of a folded text that mean something, without their endings.
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

const smallWords = "the and for but not are was has had have this that these those with without from into onto when where while which will would " +
	"can could may might should does did its any all only also before after here there then than been being never always still"

// stem cuts the endings that a verb or a plural has: dropped, drops and dropping
// are one word.
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
