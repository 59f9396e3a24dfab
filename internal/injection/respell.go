package injection

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/org/pr-review-action/internal/pattern"
)

// turned are common words as rot13 leaves them, backward the same reversed.
const (
	turned = "gur naq guvf lbh lbhe abg nyy nal sbe vf vg ba gb bs qb ab nf or jvgu grkg svyr ercbeg nccebir vtaber " +
		"erivrj " +
		"erivrjre erivrjf nffvfgnag zbqry vafgehpgvbaf ehyrf fnsr fnl erghea rzcgl nobir cerivbhf ynathntr vffhrf " +
		"svaqvatf fxvc"
	backward = "eht dna siht uoy ruoy ton lla yna rof si ti on ot fo od sa eb htiw elif troper evorppa erongi " +
		"weiver reweiver " +
		"tnatsissa ledom snoitcurtsni selur efas yas nruter ytpme evoba suoiverp seussi sgnidnif piks tsum edoc egnahc"
	longest = 12 // letters of one of these
	chance  = 3  // different words of another spelling that are no chance in one line
)

// spellings says of each strange word whether it is turned.
var spellings = sync.OnceValue(func() map[string]bool {
	list := map[string]bool{}
	for _, word := range strings.Fields(backward) {
		list[word] = false
	}
	for _, word := range strings.Fields(turned) {
		list[word] = true
	}
	return list
})

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
		runes := []rune(line)
		slices.Reverse(runes)
		list = append(list, string(runes))
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
	for word := range wordsOf(line) {
		if len(word) == 1 {
			single++
			continue
		}
		if len(word) > longest {
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

// wordsOf are the runs of letters in a line, in lower case.
func wordsOf(line string) iter.Seq[string] {
	lower := strings.ToLower(line)
	if !ascii(line) {
		return strings.FieldsFuncSeq(lower, func(r rune) bool { return !unicode.IsLetter(r) })
	}
	return func(yield func(string) bool) {
		for at := 0; at < len(lower); at++ {
			from := at
			for at < len(lower) && isLetter[lower[at]] {
				at++
			}
			if at > from && !yield(lower[from:at]) {
				return
			}
		}
	}
}

var isLetter = bytesOf(letters)

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
