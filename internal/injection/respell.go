package injection

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/org/pr-review-action/internal/pattern"
)

// common are words of which a line in another spelling has several. Turned around "on" is one itself.
const common = "the and this you your not all any for is it to of do no as be with text file report approve ignore " +
	"review reviewer reviews assistant model instructions rules safe say return empty above previous language issues " +
	"findings skip must code change"

const chance = 3 // different words of another spelling that are no chance in one line

// spellings says of each strange word whether it is in rot13, else it stands backwards.
var spellings = sync.OnceValue(func() map[string]bool {
	list := map[string]bool{}
	for word := range strings.FieldsSeq(common) {
		list[backwards(word)] = false
		list[strings.Map(rot13, word)] = true
	}
	return list
})

func backwards(text string) string {
	runes := []rune(text)
	slices.Reverse(runes)
	return string(runes)
}

var (
	spaced = pattern.Lazy(`(?:\b\pL[ ._-]{1,3}){7,}\pL\b`)
	gap    = pattern.Lazy(`[ ._-]{2,}`)
)

// strange lists a line in the spellings that nobody writes by chance: rot13,
// backwards, letters spaced out.
func strange(line string) []string {
	var list []string
	forward, back, single := strangers(line)
	if forward >= chance {
		list = append(list, strings.Map(rot13, line))
	}
	if back >= chance {
		list = append(list, backwards(line))
	}
	if single >= 8 {
		for _, run := range spaced().FindAllString(line, 4) {
			list = append(list, closed(run))
		}
	}
	return list
}

// strangers counts a line's different words in rot13, its different words
// backwards, and its words of one letter.
func strangers(line string) (forward, back, single int) {
	var seen []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(word) == 1 {
			single++
			continue
		}
		inRot13, known := spellings()[word]
		if !known || slices.Contains(seen, word) {
			continue
		}
		if seen = append(seen, word); inRot13 {
			forward++
		} else {
			back++
		}
	}
	return forward, back, single
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

// closed puts spaced letters together; wider gaps part the words.
func closed(run string) string {
	var words []string
	for word := range strings.SplitSeq(gap().ReplaceAllString(run, "\n"), "\n") {
		words = append(words, strings.NewReplacer(" ", "", ".", "", "_", "", "-", "").Replace(word))
	}
	return strings.Join(words, " ")
}
