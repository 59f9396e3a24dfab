package retrieve

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/order"
)

// Line is a line of a file, by its number from 1.
type Line struct {
	Number int
	Text   string
}

// Best returns the lines of a chunk that hold most of a query's words, at most that many,
// in order. It never returns the line of the definition itself. If no line has any of the
// words, it returns the first one with a letter.
func Best(c chunk.Chunk, query string, most int) []Line {
	worth := map[string]float64{}
	for _, t := range parseQuery(query).terms() {
		for i, token := range t {
			worth[token] = max(worth[token], index.Weight(i))
		}
	}
	var all []Line
	n, scores := c.StartLine, map[int]float64{} // by number
	for line := range strings.SplitSeq(c.Text, "\n") {
		line = strings.TrimRight(line, "\r")
		for _, token := range slices.Compact(slices.Sorted(slices.Values(chunk.Tokens(line)))) {
			scores[n] += worth[token]
		}
		if strings.ContainsFunc(line, unicode.IsLetter) && !isSignatureLine(c, line) {
			all = append(all, Line{n, line})
		}
		n++
	}
	order.Stable(all, func(a, b Line) int { return cmp.Compare(scores[b.Number], scores[a.Number]) })
	var best []Line
	for i, line := range all {
		if len(best) < most && (scores[line.Number] > 0 || i == 0) {
			best = append(best, line)
		}
	}
	order.Stable(best, func(a, b Line) int { return a.Number - b.Number })
	return best
}

// isSignatureLine reports whether a line is the chunk's signature, or the signature's first line.
func isSignatureLine(c chunk.Chunk, line string) bool {
	text := strings.TrimRight(strings.TrimSpace(line), " {")
	return text != "" && c.Signature != "" &&
		(strings.HasPrefix(c.Signature, text) || strings.HasPrefix(text, c.Signature))
}
