package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

// minPart is the length in characters from which a quote may be part of a line: a shorter one
// occurs in too many lines.
const minPart = 12

// quotes holds both sides of a diff as the model was shown them.
type quotes map[finding.Side]*column

// column is one side of a diff: the folded texts of its lines, with a space between consecutive
// ones, so that a quote of several lines is found however its lines are broken. A line feed, which
// no folded text contains, ends a hunk.
type column struct {
	text  strings.Builder
	lines []shownLine
}

// shownLine is the range of a line in its column's text; it is empty for a blank line.
type shownLine struct{ number, start, end int }

func newQuotes(patch string) quotes {
	q := quotes{finding.Left: {}, finding.Right: {}}
	hunks, _ := diff.Hunks(patch) // a patch that cannot be parsed has no lines to quote
	for _, h := range hunks {
		for _, l := range h.Lines {
			text := fold(l.Text)
			q[finding.Left].add(l.Old, text)
			q[finding.Right].add(l.New, text)
		}
		q[finding.Left].text.WriteByte('\n')
		q[finding.Right].text.WriteByte('\n')
	}
	return q
}

// add appends a line; number 0 means that it is only on the other side.
func (c *column) add(number int, text string) {
	if number == 0 {
		return
	}
	start := c.text.Len()
	if c.text.WriteString(text); text != "" {
		c.text.WriteByte(' ')
	}
	c.lines = append(c.lines, shownLine{number, start, start + len(text)})
}

// fold maps texts to the same form that a model may write for one another: with hidden characters
// as they were shown, with other white space, with the backslashes shown in chat template tokens,
// or without a carriage return at the end.
func fold(text string) string {
	text = guard.Visible(blanks.Replace(strings.TrimSuffix(text, "\r")))
	return strings.Join(strings.Fields(strings.ReplaceAll(text, `\`, "")), " ")
}

// blanks replaces white space that a model is shown by its number, as itself and as shown.
var blanks = strings.NewReplacer("\f", " ", "\v", " ", "<U+000C>", " ", "<U+000B>", " ")

// check compares every finding with its quote. A finding whose quote is within its lines stays;
// one whose quote is elsewhere in the diff is moved there; one whose quote is not in the diff is
// filtered. A finding on a line outside of the diff, which a model saw by other means, stays too,
// and so does one without a quote, or with a quote of something that was redacted.
func (q quotes) check(found []finding.Finding) (out []finding.Finding, moved int) {
	for _, f := range found {
		side, at, ok := q.find(f)
		switch {
		case !ok:
			f.Filtered, f.Note = finding.Misquoted, "the line that it quotes is nowhere in the diff"
		case at != f.Line || side != cmp.Or(f.Side, finding.Right):
			f = moveTo(f, side, at)
			moved++
		}
		out = append(out, f)
	}
	return out, moved
}

// find returns the line on which a finding with its quote ends: its own if the quote is within its
// lines, otherwise the last line of the quote's nearest occurrence on its side, otherwise on the other side.
// ok is false if the finding's line was shown and the quote does not occur.
func (q quotes) find(f finding.Finding) (side finding.Side, line int, ok bool) {
	side = cmp.Or(f.Side, finding.Right)
	texts := spellings(f.Quote)
	for _, text := range texts {
		if n := q[side].nearest(text, cmp.Or(f.StartLine, f.Line), f.Line); n > 0 {
			return side, n, true
		}
		if n := q[otherSide(side)].nearest(text, f.Line, f.Line); n > 0 {
			return otherSide(side), n, true
		}
	}
	shown := slices.ContainsFunc(q[side].lines, func(l shownLine) bool { return l.number == f.Line })
	return side, f.Line, len(texts) == 0 || !shown || strings.Contains(f.Quote, "<redacted ")
}

// copiedPrefix matches what precedes a line's text in a diff as shown, and may have been copied by a
// model: numbers and kind.
var copiedPrefix = pattern.Lazy(`^(?:\d+ ){0,2}[+-]? ?`)

// spellings returns the texts to look for in a diff for a quote: as written, without prefixes
// copied from the diff, and then its longest line alone, because a model skips lines and mixes the
// sides, or the longest part of that line where an ellipsis interrupts it.
func spellings(quote string) (texts []string) {
	var whole, bare []string
	longest := ""
	for line := range strings.SplitSeq(longestOf(leftOutMark().Split(quote, -1)), "\n") {
		if line = fold(line); line == "" {
			continue
		}
		whole, bare = append(whole, line), append(bare, copiedPrefix().ReplaceAllString(line, ""))
		if len(line) > len(longest) {
			longest = line
		}
	}
	block, stripped := strings.Join(whole, " "), strings.Join(bare, " ")
	alone := copiedPrefix().ReplaceAllString(longest, "")
	whatIsLeft := fold(longestOf(ellipsis().Split(alone, -1)))
	for _, text := range []string{block, stripped, longest, alone, whatIsLeft} {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

func longestOf(parts []string) string {
	return slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) })
}

// nearest returns the line on which a text's nearest occurrence ends, or 0 if there is none; if it
// is within start to line, it returns line. A text that is too short to identify a line must match
// whole lines.
func (c *column) nearest(text string, start, line int) (best int) {
	short, all := utf8.RuneCountInString(text) < minPart, c.text.String()
	for from := 0; ; {
		i := strings.Index(all[from:], text)
		if i < 0 {
			return best
		}
		begin := from + i
		first, last := c.lineAt(begin), c.lineAt(begin+len(text)-1)
		from = first.end
		switch {
		case short && (begin != first.start || begin+len(text) != last.end):
		case start <= first.number && last.number <= line:
			return line
		case best == 0 || abs(last.number-line) < abs(best-line):
			best = last.number
		}
	}
}

func (c *column) lineAt(offset int) shownLine {
	i, _ := slices.BinarySearchFunc(c.lines, offset+1, func(l shownLine, end int) int { return l.end - end })
	return c.lines[i]
}

func otherSide(s finding.Side) finding.Side {
	if s == finding.Left {
		return finding.Right
	}
	return finding.Left
}

var (
	leftOutMark = pattern.Lazy(`<… \d+ bytes left out …>`) // where a long line was shown without its middle
	ellipsis    = pattern.Lazy(`\.{3,}|…`)                 // as a model writes it
)

// writtenElsewhere is why the suggestion of a moved finding cannot be applied.
const writtenElsewhere = "it was written for other lines than those that are quoted"

// moveTo moves a finding to another line. Its suggestion was to replace the lines that it named, so
// it is only shown as code.
func moveTo(f finding.Finding, side finding.Side, to int) finding.Finding {
	f.Note = fmt.Sprintf("moved from line %d to the line that it quotes", f.Line)
	f.Side, f.StartLine, f.Line = side, max(f.StartLine+to-f.Line, 1), to
	if f.Suggestion != "" {
		f.SuggestionProblem = writtenElsewhere
	}
	return f
}

func abs(n int) int { return max(n, -n) }
