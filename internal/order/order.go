// Package order sorts and groups lists of large values. slices.SortStableFunc is compiled anew for
// every type of element, at 6 to 27 KB each; here one sort of places serves all of them.
package order

import "slices"

// Stable sorts a list as compare says, which is called as slices.SortFunc calls it; those
// that compare as equal keep their order. It takes the memory of a second list.
func Stable[T any](list []T, compare func(a, b T) int) {
	sorted := make([]T, len(list))
	for to, from := range places(len(list), func(i, j int) int { return compare(list[i], list[j]) }) {
		sorted[to] = list[from]
	}
	copy(list, sorted)
}

// places is where each element of a sorted list stood before.
func places(n int, compare func(i, j int) int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, compare)
	return all
}

// Grouped brings together what has the same key, in the order in which the keys
// first appear.
func Grouped[T any, K comparable](all []T, key func(T) K) [][]T {
	var groups [][]T
	index := map[K]int{}
	for _, one := range all {
		i, ok := index[key(one)]
		if !ok {
			i = len(groups)
			index[key(one)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], one)
	}
	return groups
}
