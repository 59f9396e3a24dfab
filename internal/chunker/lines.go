package chunker

import (
	"strings"

	ts "github.com/odvcencio/gotreesitter"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/pattern"
)

// cutter cuts one text. Each line is used once, in order; next is the first line that is
// not in a chunk yet.
type cutter struct {
	path, language string
	text           string
	starts         []int // offset of each line, and the end of the last one
	next           int
	out            []chunk.Chunk
	found          []site            // names found, for Defines of the chunks around them
	rules          map[string][]rule // of a parsed language, as is grammar
	grammar        *ts.Language
	depth          int // in the parse tree
}

type site struct {
	line int
	name string
}

func newCutter(path, language, text string) *cutter {
	c := &cutter{path: path, language: language, text: text, next: 1, starts: []int{0}}
	for line := range strings.Lines(text) {
		c.starts = append(c.starts, c.starts[c.count()]+len(line))
	}
	return c
}

// count returns the number of lines.
func (c *cutter) count() int { return len(c.starts) - 1 }

// lines returns the text of a range of lines, without the last line break.
func (c *cutter) lines(from, to int) string {
	return strings.TrimSuffix(c.text[c.starts[from-1]:c.starts[to]], "\n")
}

func (c *cutter) blank(line int) bool { return strings.TrimSpace(c.lines(line, line)) == "" }

// add makes a chunk of lines, without blank ones at its ends, and adds the names found in
// them. Lines with neither a name nor fewLetters letters make no chunk.
func (c *cutter) add(piece chunk.Chunk, from, to int) {
	c.next = max(c.next, to+1)
	for from <= to && c.blank(from) {
		from++
	}
	for from <= to && c.blank(to) {
		to--
	}
	if from > to {
		return
	}
	piece.Path, piece.Language, piece.StartLine, piece.EndLine = c.path, c.language, from, to
	piece.Text = c.lines(from, to)
	for _, s := range c.found {
		if from <= s.line && s.line <= to {
			piece.Define(s.name)
		}
	}
	if piece.Name == "" && len(piece.Defines) > 0 {
		piece.Name = piece.Defines[0]
	}
	if len(piece.Defines) == 0 && len(noLetters().ReplaceAllString(piece.Text, "")) < fewLetters {
		return
	}
	c.out = append(c.out, piece)
}

// startDefinition makes chunks of the unused lines before a definition, and returns true. If the last
// chunk already has all of the definition's lines, it adds the names to that chunk and
// returns false.
func (c *cutter) startDefinition(from, to int, o owner, names ...string) bool {
	if from <= to {
		c.addGap(from-1, o)
		return true
	}
	if last := len(c.out) - 1; last >= 0 {
		for _, name := range names {
			c.out[last].Define(name)
		}
	}
	return false
}

// fewLetters is the minimum number of letters and digits in a chunk without a name. Fewer
// say nothing: end, public:, #endif.
const fewLetters = 10

var noLetters = pattern.Lazy(`[^\pL\pN]+`)

// addGap makes chunks of at most window lines from the unused lines through line to. One that is followed by another
// ends at the last blank line in its second half, if there is one, so that no paragraph is cut.
func (c *cutter) addGap(to int, o owner) {
	for c.next <= to {
		end := min(c.next+window-1, to)
		for line := end; end < to && line > c.next+(window-1)/2; line-- {
			if c.blank(line) {
				end = line
				break
			}
		}
		c.add(o.gapChunk(), c.next, end)
	}
}
