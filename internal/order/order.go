// Package order sorts, groups and thins lists of large values. slices.SortStableFunc is compiled separately
// for every element type, at 6 to 27 KB each; here one sort of indexes serves all of them.
package order

import "slices"

// Stable sorts a list by compare, as slices.SortStableFunc does: equal elements keep
// their order. It allocates a second list.
func Stable[T any](list []T, compare func(a, b T) int) {
	indexes := make([]int, len(list))
	for i := range indexes {
		indexes[i] = i
	}
	slices.SortStableFunc(indexes, func(i, j int) int { return compare(list[i], list[j]) })
	unsorted := slices.Clone(list)
	for to, from := range indexes {
		list[to] = unsorted[from]
	}
}

// Grouped groups elements by key, in the order in which the keys first appear.
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

// Distinct keeps each element where it is first. It changes the list that it is given.
func Distinct[T comparable](all []T) []T { return Unique(all, func(one T) T { return one }) }

// Unique keeps the first element of each key. It changes the list that it is given.
func Unique[T any, K comparable](all []T, key func(T) K) []T {
	seen := map[K]bool{}
	return slices.DeleteFunc(all, func(one T) bool {
		was := seen[key(one)]
		seen[key(one)] = true
		return was
	})
}

// Ahead returns the elements that satisfy which, followed by the others, each in the given order.
func Ahead[T any](all []T, which func(T) bool) []T {
	var first, others []T
	for _, one := range all {
		if which(one) {
			first = append(first, one)
		} else {
			others = append(others, one)
		}
	}
	return append(first, others...)
}
