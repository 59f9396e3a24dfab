package retrieve

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/secret"
)

// bytesPerToken is how many bytes count as one token.
const bytesPerToken = 3

// The bytes that are written around a piece, and before each of its lines.
const (
	pieceFrame = 60
	lineFrame  = 9
)

// pieces collects the candidates for a pack, each chunk once.
type pieces struct {
	change question
	shown  diff.Anchors // lines that the diff shows
	seen   map[string]bool
	all    []Piece
}

// wanted reports whether a line, given by number and text, is one that its chunk is shown for.
type wanted func(n int, line string) bool

// naming wants lines that hold one of the names.
func naming(names []string) wanted {
	return func(_ int, line string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return lang.WordAt(line, name) >= 0 })
	}
}

// numbered wants the lines with these numbers.
func numbered(lines []changedLine) wanted {
	return func(n int, _ string) bool {
		return slices.ContainsFunc(lines, func(l changedLine) bool { return l.at == n })
	}
}

// in returns the first wanted line and the last one near it, counted from 0; -1 if there is none.
func (want wanted) in(start int, lines []string) (first, last int) {
	first = -1
	for i := 0; i < len(lines) && want != nil && (first < 0 || i-first <= before+behind); i++ {
		if want(start+i, lines[i]) {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	return first, last
}

// code returns a file's text with comments and strings blanked, also a comment that begins above it.
func code(file, text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "*") {
		return lang.Of(file).Blank("/*" + text)[2:]
	}
	return lang.Of(file).Blank(text)
}

// add adds chunks that the diff does not show, at most that many. Long ones are narrowed to
// the lines around the first wanted ones.
func (p *pieces) add(kind Why, chunks []chunk.Chunk, most int, lines wanted) {
	for _, c := range chunks {
		id := c.ID()
		if most <= 0 || p.seen[id] {
			continue
		}
		p.seen[id] = true
		piece := Piece{Chunk: narrowed(c, lines), Why: kind}
		if kind == Encloses && c.Kind != chunk.Constants && c.EndLine-c.StartLine < wholeAround {
			piece.around = c
		}
		if !p.repeats(piece) {
			p.all = append(p.all, piece)
			most--
		}
	}
}

// repeats reports whether the diff shows all lines of a piece or, of one that will not be shown as a whole, most.
func (p *pieces) repeats(piece Piece) bool {
	shown, lines := 0, piece.EndLine-piece.StartLine+1
	for n := piece.StartLine; n <= piece.EndLine && piece.Path == p.change.path; n++ {
		if p.shown.Admit("RIGHT", n, n) {
			shown++
		}
	}
	return shown == lines || piece.around.Text == "" && 2*shown > lines
}

// Of a chunk with more than whole lines, the wanted lines are shown, with before lines above and behind lines
// below. One around the change with at most wholeAround is shown as a whole if there is room in the end.
// RETRIEVAL.md has the figures: what that finds at how many tokens.
const (
	whole       = 16
	wholeAround = 60
	before      = 4
	behind      = 6
)

// narrowed returns a chunk or, if it is long, the lines around its first wanted ones, those of
// code before others; if it has none, its beginning. A long chunk is redacted before it is cut,
// since a part of a credential is not recognized as one.
func narrowed(c chunk.Chunk, want wanted) chunk.Chunk {
	if strings.Count(c.Text, "\n") < whole {
		return c
	}
	text := secret.Redact(c.Text)
	lines := strings.Split(text, "\n")
	first, last := want.in(c.StartLine, strings.Split(code(c.Path, text), "\n"))
	if first < 0 {
		first, last = want.in(c.StartLine, lines)
	}
	from, to := max(first-before, 0), min(last+behind, len(lines)-1)
	if first < 0 {
		to = whole - 1
	}
	c.Text = strings.Join(lines[from:to+1], "\n")
	c.StartLine, c.EndLine = c.StartLine+from, c.StartLine+to
	return c
}

// choose returns the pieces that fit into a budget of bytes, taken in order. A piece that
// does not fit is skipped. What is left is for the rest of the functions around the change.
func choose(all []Piece, budget int) (chosen []Piece) {
	for _, p := range all {
		if size := size(p.Chunk); size <= budget {
			budget -= size
			chosen = append(chosen, p)
		}
	}
	for i, p := range chosen {
		if more := size(p.around) - size(p.Chunk); p.around.Text != "" && more <= budget {
			budget -= more
			chosen[i].Chunk = p.around
		}
	}
	return chosen
}

// size returns the bytes of a chunk in a prompt.
func size(c chunk.Chunk) int {
	return len(c.Text) + (c.EndLine-c.StartLine+1)*lineFrame + len(c.Path) + pieceFrame
}
