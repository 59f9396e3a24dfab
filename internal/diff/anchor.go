package diff

import "slices"

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

// Admit reports whether a review comment from start to line may stand on a
// side, "LEFT" or "RIGHT": both lines in the diff on that side and in one
// hunk, start not behind line. On the left both must be deleted lines, since
// GitHub documents that side for those alone.
func (a Anchors) Admit(side string, start, line int) bool {
	first, begins := a.find(side, start)
	last, ends := a.find(side, line)
	return begins && ends && start <= line && first.hunk == last.hunk &&
		(side != "LEFT" || first.Op == Delete && last.Op == Delete)
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
