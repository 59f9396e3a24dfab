package retrieve

import (
	"cmp"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/order"
)

// list is ranked chunks, and how much their ranks count in fuse.
type list struct {
	name   string // its key in Hit.Ranks; empty: not shown there
	weight float64
	chunks []chunk.Chunk
}

// smoothing is the constant of reciprocal rank fusion. At 20 the first places of a list
// count more than at the usual 60. Measured on questions in words, within 400 lines: 0.756
// against 0.698 on the golden set, 0.618 against 0.513 on the unseen one.
const smoothing = 20

// fuse scores each chunk by the sum, over the lists that hold it, of the list's weight
// divided by smoothing plus rank (reciprocal rank fusion). Hidden chunks are left out. It
// returns at most that many hits, best first, ties in order of path and line.
func fuse(lists []list, most int, hidden map[string]bool) []Hit {
	at, all := map[string]int{}, []Hit{}
	for _, l := range lists {
		rank, seen := 0, map[string]bool{}
		for _, c := range l.chunks {
			id := c.ID()
			if hidden[id] || seen[id] {
				continue
			}
			seen[id] = true
			rank++
			i, ok := at[id]
			if !ok {
				i = len(all)
				at[id] = i
				all = append(all, Hit{Chunk: c, Ranks: map[string]int{}})
			}
			all[i].Score += l.weight / float64(smoothing+rank)
			if l.name != "" {
				all[i].Ranks[l.name] = min(rank, cmp.Or(all[i].Ranks[l.name], rank))
			}
		}
	}
	order.Stable(all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), compareByPlace(a.Chunk, b.Chunk))
	})
	return all[:min(len(all), most)]
}

func compareByPlace(a, b chunk.Chunk) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine))
}
