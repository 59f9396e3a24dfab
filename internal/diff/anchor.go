package diff

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNotInDiff says that no review comment may stand on the lines asked for.
var ErrNotInDiff = errors.New("not in the diff")

// Anchors answers which lines of a file a review comment may stand on. The
// zero value is that of a file without a patch: none.
type Anchors struct {
	left, right []anchor // by their numbers
}

type anchor struct {
	Line
	hunk int
}

// NewAnchors indexes a patch; its errors are those of Hunks.
func NewAnchors(patch string) (Anchors, error) { return newAnchors(Hunks(patch)) }

func newAnchors(hunks []Hunk, err error) (a Anchors, _ error) {
	for i, h := range hunks {
		for _, l := range h.Lines {
			if l.Op != Add {
				a.left = append(a.left, anchor{l, i})
			}
			if l.Op != Delete {
				a.right = append(a.right, anchor{l, i})
			}
		}
	}
	return a, err
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
	if first.hunk != last.hunk {
		return fmt.Errorf("%s lines %d and %d stand in two hunks: %w", side, start, line, ErrNotInDiff)
	}
	if side == "LEFT" && (first.Op != Delete || last.Op != Delete) {
		return fmt.Errorf("LEFT lines %d to %d do not begin and end with a deleted line: %w", start, line, ErrNotInDiff)
	}
	return nil
}

// Text is the text of a line that the diff shows on a side, "LEFT" or
// "RIGHT", without its line feed.
func (a Anchors) Text(side string, line int) (string, bool) {
	at, ok := a.find(side, line)
	return at.Text, ok
}

func (a Anchors) find(side string, line int) (at anchor, ok bool) {
	var all []anchor
	switch side {
	case "LEFT":
		all = a.left
	case "RIGHT":
		all = a.right
	}
	i, ok := slices.BinarySearchFunc(all, line, func(at anchor, n int) int { return at.On(side) - n })
	if ok {
		at = all[i]
	}
	return at, ok
}
