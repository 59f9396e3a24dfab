package oracle

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
)

// patch is the new side of a file as far as its diff shows it.
type patch struct{ lines []line }

// line is one line of the new side.
type line struct {
	number, hunk int // the hunk's place in the patch
	added        bool
	text         string // as a model is shown it: without a carriage return
}

// newPatch reads a patch. One that cannot be read has no lines.
func newPatch(text string) (p patch) {
	hunks, err := diff.Hunks(text)
	if err != nil {
		return patch{}
	}
	for i, h := range hunks {
		for _, l := range h.Lines {
			if l.Op != diff.Delete {
				p.lines = append(p.lines, line{number: l.New, hunk: i, added: l.Op == diff.Add,
					text: strings.TrimSuffix(l.Text, "\r")})
			}
		}
	}
	return p
}

// nearest gives the lines on which a range is reported, all in one hunk: what of
// it lies in the first hunk that it touches or, where it touches none, the one
// line that is nearest. The patch has lines.
func (p patch) nearest(start, end int) (from, to int) {
	best := p.lines[0]
	for _, l := range p.lines {
		if gap(l.number, start, end) < gap(best.number, start, end) {
			best = l
		}
	}
	from, to = best.number, best.number
	for _, l := range p.lines {
		if l.hunk == best.hunk && gap(l.number, start, end) == 0 {
			to = l.number
		}
	}
	return from, to
}

// gap is the number of lines from a line to a range, 0 inside it.
func gap(number, start, end int) int { return max(start-number, number-end, 0) }

// has reports whether the diff shows a line.
func (p patch) has(number int) bool {
	return slices.ContainsFunc(p.lines, func(l line) bool { return l.number == number })
}

// text is the text of a line that the diff shows, "" for others.
func (p patch) text(number int) string {
	for _, l := range p.lines {
		if l.number == number {
			return l.text
		}
	}
	return ""
}

// last is the number of the last line that the diff shows.
func (p patch) last() int { return p.lines[len(p.lines)-1].number }
