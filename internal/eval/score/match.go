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
// ends before it is compared with a known one.
const margin = 3

// Pair is a posted finding near a known one: their indices in the two lists, and
// the distance of their ranges in lines, 0 if they overlap.
type Pair struct {
	Golden, Finding, Distance int
}

// Candidates returns which posted findings may hit which known ones: same path, and the
// finding's range, widened by three lines, overlaps one of the known places. The pairs are in
// the order in which Match takes them: by distance, then by how exactly the ranges agree.
// Findings on the old side are mapped to the new side by the patches. Those without a line,
// or on the old side without a readable patch, are near nothing.
func Candidates(golden []dataset.Golden, posted []finding.Finding, patches map[string]string) []Pair {
	var pairs []Pair
	shifts := map[Pair]int{}
	for j, f := range posted {
		start, end, ok := NewSide(f, patches[f.Path])
		for i, g := range golden {
			if distance, shift := nearestPlace(g, f.Path, start, end); ok && distance <= margin {
				pairs = append(pairs, Pair{i, j, distance})
				shifts[Pair{i, j, distance}] = shift
			}
		}
	}
	order.Stable(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(shifts[a], shifts[b]),
			cmp.Compare(a.Golden, b.Golden), cmp.Compare(a.Finding, b.Finding))
	})
	return pairs
}

// Match returns the candidates that same confirms to mean the same defect. It goes in order
// and takes each known and each posted finding at most once. It stops at same's first error.
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

// nearestPlace returns the gap in lines between a range and the nearest place of a known
// finding, and the difference of the starts plus that of the ends. The gap is math.MaxInt if
// no place has that path.
func nearestPlace(g dataset.Golden, path string, start, end int) (distance, shift int) {
	distance = math.MaxInt
	for _, p := range g.Places() {
		gap, off := max(p.LineStart-end, start-p.LineEnd, 0), abs(p.LineStart-start)+abs(p.LineEnd-end)
		if p.Path == path && (gap < distance || gap == distance && off < shift) {
			distance, shift = gap, off
		}
	}
	return distance, shift
}

// NewSide returns the lines of a finding on the new side of its file's patch. ok is
// false if it has no line, or is on the old side and the patch cannot be parsed.
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
	return newLine(hunks, start), newLine(hunks, end), true
}

// newLine returns the line of the new side that corresponds to a line of the old side.
func newLine(hunks []diff.Hunk, old int) int {
	shift := 0
	for _, h := range hunks {
		first, next := h.OldStart, h.NewStart
		if h.OldLines == 0 {
			first++ // the header of an empty side gives the line before it
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
