package review

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// minPart is the length in characters from which a quote may be a part of a line:
// a shorter one stands in many lines.
const minPart = 12

// quotes knows the lines of a diff as the model was shown them.
type quotes struct {
	lines []diff.Line
	shown []string // the lines' texts, folded
}

func newQuotes(patch string) quotes {
	var q quotes
	hunks, _ := diff.Hunks(patch) // one that cannot be read has no lines to quote
	for _, h := range hunks {
		for _, l := range h.Lines {
			q.lines = append(q.lines, l)
			q.shown = append(q.shown, fold(l.Text))
		}
	}
	return q
}

// fold makes texts equal that a model may write for one another: as it was shown
// hidden characters, with white space of another width, with the backslashes that
// it was shown in the tokens of chat templates, and without a carriage return at
// the end.
func fold(text string) string {
	text = guard.Visible(strings.TrimSuffix(text, "\r"))
	return strings.Join(strings.Fields(strings.ReplaceAll(text, `\`, "")), " ")
}

// check holds every finding against the line that it quotes. One whose quote
// stands elsewhere in the diff is moved there, one whose quote stands nowhere is
// held back. A finding on a line outside of the diff, which a model saw by other
// means, stays as it is, and so does one that quotes nothing, or that quotes what
// was taken out of the answer.
func (q quotes) check(found []finding.Finding) (out []finding.Finding, moved int) {
	for _, f := range found {
		side, at, ok := q.find(f)
		switch {
		case !ok:
			f.Filtered, f.Note = finding.Misquoted, "the line that it quotes is nowhere in the diff"
		case at != f.Line || side != cmp.Or(f.Side, finding.Right):
			f = move(f, side, at)
			moved++
		}
		out = append(out, f)
	}
	return out, moved
}

// find is the line that has a finding's quote: the nearest one on its side, else
// on the other side. It is not ok where the finding's line was shown and no line
// has the quote.
func (q quotes) find(f finding.Finding) (side finding.Side, line int, ok bool) {
	side = cmp.Or(f.Side, finding.Right)
	if f.Quote == "" {
		return side, f.Line, true
	}
	quote := fold(beside(lastLine(f.Quote)))
	for _, text := range []string{quote, copied.ReplaceAllString(quote, "")} {
		for _, s := range []finding.Side{side, other(side)} {
			if n := q.nearest(text, s, f.Line); n > 0 {
				return s, n, true
			}
		}
	}
	return side, f.Line, quote == "" || !q.shows(side, f.Line) || strings.Contains(quote, "<redacted ")
}

// copied is what stands before a line's text where a diff is shown, and a model
// may have copied: numbers and kind.
var copied = regexp.MustCompile(`^(?:\d+ ){0,2}[+-]? ?`)

// nearest is the number on a side of the line that has a text, 0 where none has.
func (q quotes) nearest(text string, s finding.Side, line int) (best int) {
	for i, l := range q.lines {
		n := number(l, s)
		if n > 0 && text != "" && same(q.shown[i], text) && (best == 0 || abs(n-line) < abs(best-line)) {
			best = n
		}
	}
	return best
}

// shows reports whether the diff has a line.
func (q quotes) shows(s finding.Side, line int) bool {
	return slices.ContainsFunc(q.lines, func(l diff.Line) bool { return number(l, s) == line })
}

func other(s finding.Side) finding.Side {
	if s == finding.Left {
		return finding.Right
	}
	return finding.Left
}

// same reports whether a line is the one that is quoted, whole or by a part that
// is long enough to tell it.
func same(shown, quote string) bool {
	return shown == quote || utf8.RuneCountInString(quote) >= minPart && strings.Contains(shown, quote)
}

// lastLine is the line that a quote of several ends with: a finding's line is
// its place's last.
func lastLine(quote string) string {
	quote = strings.TrimRight(quote, " \t\r\n")
	return quote[strings.LastIndexByte(quote, '\n')+1:]
}

var leftOut = regexp.MustCompile(`<… \d+ bytes left out …>`)

// beside is the longer of the parts around the place where a long line was shown
// without its middle.
func beside(quote string) string {
	longest := ""
	for _, part := range leftOut.Split(quote, -1) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// move takes a finding to another line, its place and what replaces it with it.
func move(f finding.Finding, side finding.Side, to int) finding.Finding {
	f.Note = fmt.Sprintf("moved from line %d to the line that it quotes", f.Line)
	f.Side, f.StartLine, f.Line = side, max(f.StartLine+to-f.Line, 1), to
	return f
}

func number(l diff.Line, s finding.Side) int {
	if s == finding.Left {
		return l.Old
	}
	return l.New
}

func abs(n int) int { return max(n, -n) }
