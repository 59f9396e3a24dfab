package retrieve

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/secret"
)

// bytesPerToken is how many bytes of code count as a token.
const bytesPerToken = 3

// What is written around a piece and before each line of it, in bytes.
const (
	pieceFrame = 60
	lineFrame  = 9
)

// share is how much of a pack's budget each kind has before any may take what is left.
func share(w Why) float64 {
	switch w {
	case Calls:
		return 0.3
	case Encloses, Defines:
		return 0.25
	}
	return 0.1
}

// pieces collects what a pack may have, each chunk once.
type pieces struct {
	change Change
	shown  map[int]bool // lines of the changed file that the diff shows
	seen   map[string]bool
	all    []Piece
}

// wanted tells lines of a file, by number and text, for which a chunk is shown.
type wanted func(n int, line string) bool

// naming wants lines that hold one of some names.
func naming(names []string) wanted {
	return func(_ int, line string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return index.Holds(line, name) })
	}
}

// numbered wants lines by their numbers.
func numbered(lines []int) wanted {
	return func(n int, _ string) bool { return slices.Contains(lines, n) }
}

// add takes chunks in that the diff does not show, so many at most; long ones by the
// lines around the first that are wanted.
func (p *pieces) add(why Why, chunks []chunk.Chunk, most int, lines wanted) {
	for _, c := range chunks {
		id := c.ID()
		if most <= 0 || p.seen[id] {
			continue
		}
		p.seen[id] = true
		if c = narrowed(c, lines); c.Path != p.change.Path || !p.shows(c) {
			p.all = append(p.all, Piece{c, why})
			most--
		}
	}
}

// Of a chunk of more lines than whole, so many before and behind those that are wanted
// are shown: measured, RETRIEVAL.md has what that finds at how many tokens.
const (
	whole  = 16
	before = 4
	behind = 6
)

// narrowed is a chunk, or of a long one the lines around the first that are wanted;
// where none is, its beginning. It is redacted whole: no part tells that it is of a
// credential.
func narrowed(c chunk.Chunk, want wanted) chunk.Chunk {
	lines := strings.Split(c.Text, "\n")
	if len(lines) <= whole {
		return c
	}
	lines = strings.Split(secret.Redact(c.Text), "\n")
	first, last := -1, -1
	for i := 0; i < len(lines) && want != nil && (first < 0 || i-first <= before+behind); i++ {
		if want(c.StartLine+i, lines[i]) {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	from, to := max(first-before, 0), min(last+behind, len(lines)-1)
	if first < 0 {
		to = whole - 1
	}
	c.Text = strings.Join(lines[from:to+1], "\n")
	c.StartLine, c.EndLine = c.StartLine+from, c.StartLine+to
	return c
}

// shows reports whether the diff has every line of a chunk.
func (p *pieces) shows(c chunk.Chunk) bool {
	for n := c.StartLine; n <= c.EndLine; n++ {
		if !p.shown[n] {
			return false
		}
	}
	return true
}

func shownLines(hunks []diff.Hunk) map[int]bool {
	shown := map[int]bool{}
	for _, h := range hunks {
		for _, l := range h.Lines {
			shown[l.New] = true
		}
	}
	return shown
}

// choose fills a budget of bytes: each kind up to its share, then what is left in the
// order of the candidates. A piece that does not fit is passed over.
func choose(candidates []Piece, budget int) (chosen []Piece) {
	used, of := 0, map[Why]int{}
	taken := make([]bool, len(candidates))
	take := func(within func(p Piece, size int) bool) {
		for i, p := range candidates {
			size := len(p.Text) + (p.EndLine-p.StartLine+1)*lineFrame + len(p.Path) + pieceFrame
			if !taken[i] && used+size <= budget && within(p, size) {
				taken[i] = true
				used += size
				of[p.Why] += size
			}
		}
	}
	take(func(p Piece, size int) bool { return float64(of[p.Why]+size) <= share(p.Why)*float64(budget) })
	take(func(Piece, int) bool { return true })
	for i, p := range candidates {
		if taken[i] {
			chosen = append(chosen, p)
		}
	}
	return chosen
}
