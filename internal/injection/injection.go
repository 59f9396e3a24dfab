// Package injection finds text that addresses the reviewer instead of the program: invisible
// characters, and instruction-shaped text, which means orders about the review, ready-made
// verdicts and forged turns, in many languages and through the usual encodings.
//
// Its results are a warning for the person at the gate. It never removes text, never changes a
// review, and no defence depends on it (SECURITY.md). It keeps no state and does no I/O.
// Start reading at Scan; hidden.go finds characters, rule.go defines what instruction-shaped text
// consists of, score.go adds it up, lexicon holds the words, .github/DETECTOR.md the figures.
package injection

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/order"
)

// Report holds the hits in a text, each list ordered by line.
type Report struct {
	Hidden       []Hit // characters that a reader does not see or takes for others, and forged marks
	Instructions []Hit // instruction-shaped text
}

// Hit is one line that a person should look at.
type Hit struct {
	Line    int    // 1-based, in the text that was scanned
	Kind    string // short and constant, such as "bidi control" or "states a verdict"
	Excerpt string // at most 80 characters of the text, raw: pass it through guard before showing it
}

const (
	maxHits    = 100 // per list
	maxExcerpt = 80  // characters
)

// Scan finds hidden characters and instruction-shaped text. It runs in linear time, and the
// same text always gives the same report. The lines may carry a diff's signs.
func Scan(text string) Report {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	return Report{Hidden: hiddenHits(lines), Instructions: mergeHits(instructions(lines))}
}

// mergeHits orders hits by line and kind, keeps one for each, and at most maxHits.
func mergeHits(hits []Hit) []Hit {
	order.Stable(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind))
	})
	hits = slices.CompactFunc(hits, func(a, b Hit) bool { return a.Line == b.Line && a.Kind == b.Kind })
	return hits[:min(len(hits), maxHits)]
}

// excerpt returns up to maxExcerpt characters of a line around a byte, starting at a word if one is near.
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
