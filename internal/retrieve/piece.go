package retrieve

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/secret"
)

// bytesPerToken is the number of bytes that count as one token.
const bytesPerToken = 3

// The bytes that are written around a piece, and before each of its lines.
const (
	pieceFrame = 60
	lineFrame  = 9
)

// pieces collects the candidates for a pack, each chunk once.
type pieces struct {
	change question
	seen   map[string]bool
	all    []Piece
}

// wanted reports whether a line, given by number and text, is one that its chunk is shown for.
type wanted func(n int, line string) bool

// linesNaming wants lines that hold one of the names.
func linesNaming(names []string) wanted {
	return func(_ int, line string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return lang.WordAt(line, name) >= 0 })
	}
}

// listed matches a line that is blank or a name in a list, as of imports.
var listed = pattern.Lazy(`^\s*\w*,?\s*$`)

// linesNumbered wants the lines with these numbers that say something.
func linesNumbered(lines []changedLine) wanted {
	return func(n int, line string) bool {
		return !listed().MatchString(line) && slices.ContainsFunc(lines, func(l changedLine) bool { return l.at == n })
	}
}

// span returns the first wanted line and the last one near it, counted from 0; -1 if there is none.
func (want wanted) span(start int, lines []string) (first, last int) {
	first = -1
	for i := 0; i < len(lines) && (first < 0 || i-first <= before+behind); i++ {
		if want(start+i, lines[i]) {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	return first, last
}

// says reports whether a chunk has a line that it is shown for: in code, and of a test not the first.
func (want wanted) says(c chunk.Chunk, kind Why) bool {
	n, text := c.StartLine-1, c.Text
	if kind == Similar && c.Kind != chunk.Window {
		return true
	}
	if (kind == Encloses && c.Kind != chunk.Window || kind == Calls) && lang.Of(c.Path).Kind == lang.Code {
		text = code(c.Path, text)
	}
	return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		n++
		return want(n, line) && !(kind == Tests && isSignatureLine(c, line))
	})
}

// imports matches statements that only make names known, also over several lines.
var imports = pattern.Lazy(`(?m)^[ \t]*(?:pub |global )?(?:(?:(?:(?:from[ \t][\w.]+[ \t]+)?import|use)[ \t]` +
	`[^=;(){}\n]*(?:[({][^;})=]*[)}]?)?|export[ \t]*[{*][^;}=]*)[^=;\n]*|` +
	`using[ \t][\w. ]+|[#@](?:include|import|use|forward)\b.*);?[ \t]*$`)

// code returns a file's text with comments, strings and imports blanked, also a comment that begins above it.
func code(file, text string) string {
	blank := lang.Of(file).Blank(text)
	if strings.HasPrefix(strings.TrimSpace(text), "*") {
		blank = lang.Of(file).Blank("/*" + text)[2:]
	}
	return imports().ReplaceAllStringFunc(blank, func(s string) string {
		return strings.Repeat("\n", strings.Count(s, "\n"))
	})
}

// add adds chunks that the diff does not show, at most that many. Long ones are narrowed to
// the lines around the first wanted ones. A window, which is cut anywhere, is of no use without one.
func (p *pieces) add(kind Why, chunks []chunk.Chunk, most int, want wanted) {
	for _, c := range chunks {
		id := c.ID()
		if most <= 0 || p.seen[id] || !want.says(c, kind) {
			continue
		}
		p.seen[id] = true
		piece := Piece{Chunk: narrowToLines(c, want), Why: kind}
		if part := piece.Chunk; kind == Encloses && c.Kind != chunk.Constants && c.Kind != chunk.Type {
			piece.Chunk, piece.around = p.unshown(c, part, nearAround), p.unshown(c, part, wideAround)
		}
		if piece.Text != "" && 2*p.change.countShown(piece.Chunk) <= piece.EndLine-piece.StartLine+1 {
			p.all = append(p.all, piece)
			most--
		}
	}
}

// unshown returns a part of a chunk with that many lines above, and half as many below, without those at both ends that
// the diff shows. It is empty if hardly any is left.
func (p *pieces) unshown(c, part chunk.Chunk, above int) chunk.Chunk {
	lines := strings.Split(secret.Redact(c.Text), "\n") // as many as the chunk says, if its row is not damaged
	from, to := max(c.StartLine, part.StartLine-above), min(c.StartLine+len(lines)-1, part.EndLine+above/2)
	for from <= to && p.change.shows(c.Path, from) {
		from++
	}
	for from <= to && p.change.shows(c.Path, to) {
		to--
	}
	if to-from < 2 { // a brace, or a signature that the hunk's header has
		return chunk.Chunk{}
	}
	c.Text = strings.Join(lines[from-c.StartLine:to-c.StartLine+1], "\n")
	c.StartLine, c.EndLine = from, to
	return c
}

// shows reports whether the diff shows a line of the new side.
func (q question) shows(file string, line int) bool {
	return file == q.path && slices.ContainsFunc(q.hunks, func(h diff.Hunk) bool {
		return h.NewStart <= line && line < h.NewStart+h.NewLines
	})
}

// countShown returns how many lines of a chunk the diff shows.
func (q question) countShown(c chunk.Chunk) (n int) {
	for line := c.StartLine; line <= c.EndLine; line++ {
		if q.shows(c.Path, line) {
			n++
		}
	}
	return n
}

// A chunk with more than whole lines is reduced to the wanted lines, with before lines above and behind lines
// below, around the change nearAround more above and half as many below, or wideAround if there is room in the end.
// RETRIEVAL.md has the figures: what that finds at how many tokens.
const (
	whole      = 16
	nearAround = 4
	wideAround = 40
	before     = 4
	behind     = 6
)

// narrowToLines returns a chunk or, if it is long, the lines around its first wanted ones, those of
// code before others; if it has none, its beginning. A long chunk is redacted before it is cut,
// since a part of a credential is not recognized as one.
func narrowToLines(c chunk.Chunk, want wanted) chunk.Chunk {
	if strings.Count(c.Text, "\n") < whole {
		return c
	}
	text := secret.Redact(c.Text)
	lines := strings.Split(text, "\n")
	first, last := want.span(c.StartLine, strings.Split(code(c.Path, text), "\n"))
	if first < 0 {
		first, last = want.span(c.StartLine, lines)
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
	fits := func(size int) bool {
		if size > budget {
			return false
		}
		budget -= size
		return true
	}
	kept := make([]bool, len(all))
	for i, p := range all {
		kept[i] = fits(size(p.Chunk))
	}
	for i, p := range all {
		if kept[i] && p.around.Text != "" && fits(size(p.around)-size(p.Chunk)) {
			p.Chunk = p.around
		}
		if kept[i] {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// size returns the bytes of a chunk in a prompt.
func size(c chunk.Chunk) int {
	return len(c.Text) + (c.EndLine-c.StartLine+1)*lineFrame + len(c.Path) + pieceFrame
}

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
