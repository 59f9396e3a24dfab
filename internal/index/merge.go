package index

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/order"
)

// index assembles the reused and the newly cut chunks, in order of path.
func (b *builder) index() *Index {
	if old := b.previous; b.report.Reused == len(b.files) && len(b.files) == len(old.files) {
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
	fresh := make([]row, 0, len(b.fresh))
	for name, counts := range b.fresh {
		fresh = append(fresh, row{name, pack(counts)})
	}
	slices.SortFunc(fresh, byKey)
	all := slices.Concat(b.previous.rows[len(b.previous.sizes):], fresh)
	slices.SortStableFunc(all, byKey) // fast: both parts are sorted
	joined := make([]row, len(all))   // one row per word, of reused and newly cut chunks
	inParallel(len(all), func(from, to int) {
		var counts []count
		for i := from; i < to; i++ {
			if i > 0 && all[i].key == all[i-1].key {
				continue
			}
			counts = counts[:0]
			for same := i; same < len(all) && all[same].key == all[i].key; same++ {
				for c := range unpack(all[same].value, len(places)) {
					if place := places[c.chunk]; place >= 0 {
						counts = append(counts, count{place, c.times})
					}
				}
			}
			slices.SortFunc(counts, func(a, b count) int { return cmp.Compare(a.chunk, b.chunk) })
			joined[i] = row{all[i].key, pack(counts)}
		}
	})
	return slices.DeleteFunc(joined, func(w row) bool { return w.value == "" })
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
