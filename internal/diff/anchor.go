package diff

import (
	"errors"
	"fmt"
	"sort"
)

// ErrNotInDiff says that no review comment may stand on the lines asked for.
var ErrNotInDiff = errors.New("not in the diff")

// Anchors answers which lines of a file a review comment may stand on. The
// zero value is that of a file without a patch: none.
type Anchors struct {
	left, right []stretch
}

// stretch is what one hunk shows of one side: consecutive lines from start on.
type stretch struct {
	start int
	lines []Line
}

// NewAnchors indexes a patch; its errors are those of Hunks.
func NewAnchors(patch string) (Anchors, error) { return newAnchors(Hunks(patch)) }

func newAnchors(hunks []Hunk, err error) (Anchors, error) {
	if err != nil {
		return Anchors{}, err
	}
	var a Anchors
	for _, h := range hunks {
		left := make([]Line, 0, min(h.OldLines, len(h.Lines)))
		right := make([]Line, 0, min(h.NewLines, len(h.Lines)))
		for _, l := range h.Lines {
			if l.Op != Add {
				left = append(left, l)
			}
			if l.Op != Delete {
				right = append(right, l)
			}
		}
		a.left = appendStretch(a.left, h.OldStart, left)
		a.right = appendStretch(a.right, h.NewStart, right)
	}
	return a, nil
}

func appendStretch(all []stretch, start int, lines []Line) []stretch {
	if len(lines) == 0 {
		return all
	}
	return append(all, stretch{start, lines})
}

// Check reports whether a review comment from start to line may stand on a
// side, "LEFT" or "RIGHT": both lines in the diff on that side and in one
// hunk, start not behind line. On the left both must be deleted lines, since
// GitHub documents that side for those alone. The error is an ErrNotInDiff.
func (a Anchors) Check(side string, start, line int) error {
	if start > line {
		return fmt.Errorf("lines %d to %d run backwards: %w", start, line, ErrNotInDiff)
	}
	first, ok := a.find(side, start)
	if !ok {
		return fmt.Errorf("%s line %d: %w", side, start, ErrNotInDiff)
	}
	last, ok := a.find(side, line)
	if !ok {
		return fmt.Errorf("%s line %d: %w", side, line, ErrNotInDiff)
	}
	if first.start != last.start {
		return fmt.Errorf("%s lines %d and %d stand in two hunks: %w", side, start, line, ErrNotInDiff)
	}
	if side == "LEFT" && (first.at(start).Op != Delete || last.at(line).Op != Delete) {
		return fmt.Errorf("LEFT lines %d to %d do not begin and end with a deleted line: %w", start, line, ErrNotInDiff)
	}
	return nil
}

// Text is the text of a line that the diff shows on a side, "LEFT" or
// "RIGHT", without its line feed.
func (a Anchors) Text(side string, line int) (string, bool) {
	s, ok := a.find(side, line)
	if !ok {
		return "", false
	}
	return s.at(line).Text, true
}

func (s stretch) at(line int) Line { return s.lines[line-s.start] }

func (a Anchors) find(side string, line int) (stretch, bool) {
	var all []stretch
	switch side {
	case "LEFT":
		all = a.left
	case "RIGHT":
		all = a.right
	}
	i := sort.Search(len(all), func(i int) bool { return all[i].start > line }) - 1
	if i < 0 || line >= all[i].start+len(all[i].lines) {
		return stretch{}, false
	}
	return all[i], true
}
