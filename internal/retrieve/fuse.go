package retrieve

import (
	"cmp"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/order"
)

// list is chunks in an order, and what being high in it is worth.
type list struct {
	name   string // by which Ranks shows it; empty for none
	weight float64
	chunks []chunk.Chunk
}

// smoothing is the constant of reciprocal rank fusion. At 20 the first places of a
// list weigh more than at the customary 60: measured on questions in words, 0.756
// against 0.698 within 400 lines on the golden set, 0.618 against 0.513 on the unseen one.
const smoothing = 20

// fuse adds for each chunk the weight of each list that has it, over its rank there
// (reciprocal rank fusion). Chunks that are hidden count in no list. Equal sums are
// in order of path and line.
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
		return cmp.Or(cmp.Compare(b.Score, a.Score), byPlace(a.Chunk, b.Chunk))
	})
	return all[:min(len(all), most)]
}

func byPlace(a, b chunk.Chunk) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine))
}
