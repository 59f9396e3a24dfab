package index

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/order"
)

// index puts what was taken over and what was cut in order of path.
func (b *builder) index() *Index {
	if old := b.previous; b.report.Reused == len(b.files) && len(b.files) == len(old.files) {
		return old
	}
	order.Stable(b.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	var records, packed []string
	var sizes []uint32
	places := slices.Repeat([]int32{-1}, len(b.records)) // of each record the place of its chunk; -1: none
	for i := range b.files {
		f, first := &b.files[i], len(records)
		for n := f.first; n < f.next; n++ {
			places[n] = int32(len(records))
			records, sizes = append(records, b.records[n]), append(sizes, b.sizes[n])
			if n < len(b.previous.packed) {
				packed = append(packed, b.previous.packed[n])
			} else if b.previous.packed != nil {
				packed = append(packed, "")
			}
		}
		f.first, f.next = first, len(records)
	}
	v := b.previous.vectors
	return newIndex(b.Made, b.files, sizes, records, b.words(places), v.Model, v.Dimensions, packed)
}

// words are those of all chunks that have a place.
func (b *builder) words(places []int32) []word {
	fresh := make([]word, 0, len(b.fresh))
	for name, p := range b.fresh {
		fresh = append(fresh, word{name, string(p.held)})
	}
	slices.SortFunc(fresh, byName)
	all := make([]word, 0, len(b.previous.words)+len(fresh))
	added := make([]string, 0, cap(all)) // of each word what was cut
	for old := b.previous.words; len(old)+len(fresh) > 0; {
		if len(fresh) == 0 || len(old) > 0 && old[0].name < fresh[0].name {
			all, added, old = append(all, old[0]), append(added, ""), old[1:]
			continue
		}
		w := word{name: fresh[0].name}
		if len(old) > 0 && old[0].name == w.name {
			w.held, old = old[0].held, old[1:]
		}
		all, added, fresh = append(all, w), append(added, fresh[0].held), fresh[1:]
	}
	var group sync.WaitGroup
	share := len(all)/runtime.GOMAXPROCS(0) + 1
	for from := 0; from < len(all); from += share {
		group.Go(func() {
			var counts []count
			for i := from; i < min(from+share, len(all)); i++ {
				counts = placed(placed(counts[:0], all[i].held, places), added[i], places)
				if added[i] != "" {
					slices.SortFunc(counts, func(a, b count) int { return cmp.Compare(a.chunk, b.chunk) })
				}
				all[i].held = pack(counts)
			}
		})
	}
	group.Wait()
	return slices.DeleteFunc(all, func(w word) bool { return w.held == "" })
}

// placed appends the counts of the chunks that have a place.
func placed(to []count, held string, places []int32) []count {
	from := len(to)
	to = unpack(to, held, len(places))
	kept := to[:from]
	for _, c := range to[from:] {
		if place := places[c.chunk]; place >= 0 {
			kept = append(kept, count{place, c.times})
		}
	}
	return kept
}
