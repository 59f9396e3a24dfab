package retrieve

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/secret"
)

// bytesPerToken is how many bytes of code count as a token.
const bytesPerToken = 3

// What is written around a piece and before each line of it, in bytes.
const (
	pieceFrame = 60
	lineFrame  = 9
)

// pieces collects what a pack may have, each chunk once.
type pieces struct {
	change question
	names  []string     // that the change defines
	shown  diff.Anchors // lines of the changed file
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
func numbered(lines []changedLine) wanted {
	return func(n int, _ string) bool {
		return slices.ContainsFunc(lines, func(l changedLine) bool { return l.at == n })
	}
}

// add takes chunks in that the diff does not show, so many at most; long ones by the
// lines around the first that are wanted.
func (p *pieces) add(kind Why, chunks []chunk.Chunk, most int, lines wanted) {
	for _, c := range chunks {
		id := c.ID()
		if most <= 0 || p.seen[id] {
			continue
		}
		p.seen[id] = true
		part := narrowed(c, lines)
		if part.Path != p.change.path || !p.shown.Admit("RIGHT", part.StartLine, part.EndLine) {
			p.all = append(p.all, Piece{part, p.why(kind, c)})
			most--
		}
	}
}

// why is the reason that holds of a chunk: only what has a name of the change's own in
// its code uses what is changed. What shares other names with it defines one, or was found.
func (p *pieces) why(kind Why, c chunk.Chunk) Why {
	if kind != Calls || naming(p.names)(0, lang.Of(c.Path).Blank(c.Text)) {
		return kind
	}
	changed := plain(p.change.hunks)
	if slices.ContainsFunc(c.Defines, func(name string) bool { return index.Holds(changed, name) }) {
		return Defines
	}
	return Similar
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

// choose takes pieces in their order, as far as a budget of bytes reaches. One that does
// not fit is passed over.
func choose(all []Piece, budget int) (chosen []Piece) {
	for _, p := range all {
		size := len(p.Text) + (p.EndLine-p.StartLine+1)*lineFrame + len(p.Path) + pieceFrame
		if size <= budget {
			budget -= size
			chosen = append(chosen, p)
		}
	}
	return chosen
}
