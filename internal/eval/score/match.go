package score

import (
	"cmp"
	"math"
	"slices"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/order"
)

// margin is the number of lines by which a finding's range is widened at both
// ends before it is held against a known one.
const margin = 3

// Pair is a posted finding that stands near a known one: indices of the two
// lists, and the distance of their ranges in lines, 0 where they overlap.
type Pair struct {
	Golden   int `json:"golden"`
	Finding  int `json:"finding"`
	Distance int `json:"distance"`
}

// Candidates lists which posted findings may hit which known ones: same path, and the
// finding's range, widened by three lines, overlaps one of the places. The list is in the
// order in which Match takes pairs: by distance, then by how exactly the ranges agree. By
// the patches, findings on the old side are moved to the new one; those without a line, or
// without a readable patch, are near nothing.
func Candidates(golden []dataset.Golden, posted []finding.Finding, patches map[string]string) []Pair {
	var all []candidate
	for j, f := range posted {
		start, end, ok := NewSide(f, patches[f.Path])
		for i, g := range golden {
			if distance, shift := apart(g, f.Path, start, end); ok && distance <= margin {
				all = append(all, candidate{Pair{i, j, distance}, shift})
			}
		}
	}
	order.Stable(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.shift, b.shift),
			cmp.Compare(a.Golden, b.Golden), cmp.Compare(a.Finding, b.Finding))
	})
	pairs := make([]Pair, 0, len(all))
	for _, c := range all {
		pairs = append(pairs, c.Pair)
	}
	return pairs
}

// Match takes pairs in their order, each known and each posted finding at most once, where
// same says that the two mean the same defect. Its first error ends the matching.
func Match(candidates []Pair, same func(Pair) (bool, error)) ([]Pair, error) {
	var taken []Pair
	for _, c := range candidates {
		if slices.ContainsFunc(taken, func(t Pair) bool { return t.Golden == c.Golden || t.Finding == c.Finding }) {
			continue
		}
		yes, err := same(c)
		if err != nil {
			return nil, err
		}
		if yes {
			taken = append(taken, c)
		}
	}
	return taken, nil
}

type candidate struct {
	Pair
	shift int // difference of the starts and of the ends together
}

// apart is the gap in lines between a range and the nearest place of a known
// finding, and how far starts and ends are shifted. In another path it is endless.
func apart(g dataset.Golden, path string, start, end int) (distance, shift int) {
	distance = math.MaxInt
	for _, p := range g.Places() {
		gap, off := max(p.LineStart-end, start-p.LineEnd, 0), abs(p.LineStart-start)+abs(p.LineEnd-end)
		if p.Path == path && (gap < distance || gap == distance && off < shift) {
			distance, shift = gap, off
		}
	}
	return distance, shift
}

// NewSide gives the lines of a finding on the new side of its file's patch; not ok
// where it has no line, or one of the old side and the patch cannot be read.
func NewSide(f finding.Finding, patch string) (start, end int, ok bool) {
	if f.Line < 1 {
		return 0, 0, false
	}
	start, end = min(cmp.Or(f.StartLine, f.Line), f.Line), f.Line
	if f.Side != finding.Left {
		return start, end, true
	}
	hunks, err := diff.Hunks(patch)
	if err != nil || len(hunks) == 0 {
		return 0, 0, false
	}
	return moved(hunks, start), moved(hunks, end), true
}

// moved is the line of the new side that stands where a line of the old side stood.
func moved(hunks []diff.Hunk, old int) int {
	shift := 0
	for _, h := range hunks {
		first, next := h.OldStart, h.NewStart
		if h.OldLines == 0 {
			first++ // a header names the line before where a side has none
		}
		if h.NewLines == 0 {
			next++
		}
		if old < first {
			break
		}
		for _, l := range h.Lines {
			if l.Op != diff.Add && l.Old == old {
				return next
			}
			if l.Op != diff.Delete {
				next++
			}
		}
		shift = next - first - h.OldLines
	}
	return old + shift
}

func abs(n int) int { return max(n, -n) }
