package problem

import "slices"

// Nearest returns the known name that is closest to a mistyped one, or "" if none is close:
// at most a third of its letters, or two, may differ, and not all of the known one's.
func Nearest(name string, known []string) string {
	best, distance := "", max(2, len(name)/3)+1
	for _, k := range known {
		if d := editDistance(name, k); d < min(distance, len(k)) {
			best, distance = k, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements between two names.
func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			step := diagonal
			if a[i] != b[j] {
				step = 1 + slices.Min([]int{diagonal, row[j], row[j+1]})
			}
			diagonal, row[j+1] = row[j+1], step
		}
	}
	return row[len(b)]
}
