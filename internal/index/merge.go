package index

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/order"
)

// index assembles the reused and the newly cut chunks, in order of path.
func (b *builder) index() *Index {
	if old := b.previous; old.made == b.Made && b.report.Reused == len(b.files) && len(b.files) == len(old.files) {
		return old
	}
	order.Stable(b.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	var rows []row
	var sizes []uint32
	var packed []string
	places := slices.Repeat([]int32{-1}, len(b.chunks)) // new place of each chunk; -1: dropped
	for i := range b.files {
		f, first := &b.files[i], len(rows)
		for n := f.first; n < f.next; n++ {
			places[n] = int32(len(rows))
			rows = append(rows, row{recordKey(len(rows)), b.chunks[n].record})
			sizes, packed = append(sizes, b.chunks[n].size), append(packed, b.chunks[n].packed)
		}
		f.first, f.next = first, len(rows)
	}
	return newIndex(b.Made, b.files, sizes, append(rows, b.words(places)...), b.previous.vectors, packed)
}

// words returns the rows of the words in all chunks that have a place.
func (b *builder) words(places []int32) []row {
	known := b.previous.rows[len(b.previous.sizes):]
	all := slices.Clone(known)
	for _, name := range slices.Sorted(maps.Keys(b.fresh)) {
		if _, ok := slices.BinarySearchFunc(known, row{key: name}, byKey); !ok {
			all = append(all, row{key: name})
		}
	}
	slices.SortStableFunc(all, byKey) // fast: both parts are sorted
	inParallel(len(all), func(from, to int) {
		var counts []count
		for i := from; i < to; i++ {
			counts = append(counts[:0], b.fresh[all[i].key]...)
			counts = slices.AppendSeq(counts, unpack(all[i].value, len(places)))
			for n, c := range counts {
				counts[n].chunk = places[c.chunk]
			}
			counts = slices.DeleteFunc(counts, func(c count) bool { return c.chunk < 0 })
			slices.SortFunc(counts, func(a, b count) int { return cmp.Compare(a.chunk, b.chunk) })
			all[i].value = pack(counts)
		}
	})
	return slices.DeleteFunc(all, func(w row) bool { return w.value == "" })
}

// inParallel calls do for consecutive parts of 0 to n, one for each processor, and waits for them.
func inParallel(n int, do func(from, to int)) {
	parts := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	for p := range parts {
		group.Go(func() { do(p*n/parts, (p+1)*n/parts) })
	}
	group.Wait()
}
