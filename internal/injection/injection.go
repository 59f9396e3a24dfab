// Package injection finds text that speaks to the reviewer instead of to the program: characters that nobody sees,
// and instruction-shaped text, that is orders about the review, verdicts handed in and forged turns, in many
// languages and through the usual encodings.
//
// What it finds is a warning for the person at the gate. It never removes text, never changes a review, and no
// defence depends on it (THREATS.md, D11). It keeps no state and does no I/O. Start reading at Scan; hidden.go finds
// characters, rule.go has what instruction-shaped text is made of, score.go adds it up, lexicon holds the words,
// .github/DETECTOR.md the figures.
package injection

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/order"
)

// Report is what a text holds, each list in the order of lines.
type Report struct {
	Hidden       []Hit // characters that a reader does not see, or takes for others, and forged marks of ours
	Instructions []Hit // instruction-shaped text
}

// Hit is one line that a person should look at.
type Hit struct {
	Line    int    // 1-based, in the text that was scanned
	Kind    string // short and constant, such as "bidi control" or "states a verdict"
	Excerpt string // at most 80 characters of the text, raw: for guard before it is shown
}

// Found reports whether there is anything to look at.
func (r Report) Found() bool { return len(r.Hidden)+len(r.Instructions) > 0 }

const (
	maxHits    = 100 // of each list
	maxExcerpt = 80  // characters
)

// Scan finds hidden characters and instruction-shaped text. Its time is proportional to the text, and the same text
// gives the same report. A diff may be given with its marks.
func Scan(text string) Report {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	return Report{Hidden: hiddenHits(lines), Instructions: tidy(instructions(lines))}
}

// tidy orders hits and keeps one of each line and kind.
func tidy(hits []Hit) []Hit {
	order.Stable(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind))
	})
	hits = slices.CompactFunc(hits, func(a, b Hit) bool { return a.Line == b.Line && a.Kind == b.Kind })
	return hits[:min(len(hits), maxHits)]
}

// excerpt cuts a line around a byte, from the beginning of a word where one is near.
func excerpt(line string, at int) string {
	at = min(at, len(line))
	start := max(0, at-maxExcerpt/4)
	if space := strings.IndexByte(line[start:at], ' '); start > 0 && space >= 0 {
		start += space + 1
	}
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	rest, count := line[start:], 0
	for i := range rest {
		if count++; count > maxExcerpt {
			return rest[:i]
		}
	}
	return rest
}
