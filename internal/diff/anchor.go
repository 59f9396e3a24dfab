package diff

import "slices"

// Anchors knows the lines of a file on which a review comment may be placed. The zero value, like
// a file without a patch, has none.
type Anchors struct {
	left, right []anchor // in order of line number
}

type anchor struct {
	Line
	hunk int
}

// NewAnchors indexes a patch. It returns the errors of Hunks.
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

// Admit reports whether a review comment may span start to line on a side, "LEFT" or "RIGHT": both
// lines must be in the diff on that side and in the same hunk, and start must not come after line.
// On the left both must be deleted lines, because GitHub documents that side only for those.
func (a Anchors) Admit(side string, start, line int) bool {
	first, begins := a.find(side, start)
	last, ends := a.find(side, line)
	return begins && ends && start <= line && first.hunk == last.hunk &&
		(side != "LEFT" || first.Op == Delete && last.Op == Delete)
}

// Text returns the text of a line that the diff shows on a side, "LEFT" or "RIGHT", without its
// line feed.
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
