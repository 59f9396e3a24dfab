package index

import (
	"cmp"
	"context"
	"slices"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/lang"
)

// atATime is the number of chunks read at a time.
const atATime = 500

// Mentions lists at most k chunks (k > 0) whose text holds a name as a whole word, including
// those that define it. Chunks that say little else come first.
func (x *Source) Mentions(ctx context.Context, name string, k int) (found []chunk.Chunk, err error) {
	candidates, err := x.chunksWithName(ctx, name)
	for places := range slices.Chunk(candidates, atATime) {
		chunks, err := x.chunks(ctx, places)
		if err != nil {
			return nil, err
		}
		for _, c := range chunks {
			if lang.WordAt(c.Text, name) < 0 {
				continue
			}
			if found = append(found, c); len(found) == k {
				return found, nil
			}
		}
	}
	return found, cmp.Or(err, ctx.Err())
}

// chunksWithName returns the places of the chunks that may hold a name: those with its rarest
// token, or all if it has no token. Chunks that say little else come first.
func (x *Source) chunksWithName(ctx context.Context, name string) (places []int, err error) {
	tokens := chunk.Tokens(name)
	held, err := x.counts(ctx, tokens)
	if err != nil {
		return nil, err
	}
	var rarest []count
	if len(tokens) > 0 {
		rarest = held[slices.MinFunc(tokens, func(a, b string) int { return cmp.Compare(len(held[a]), len(held[b])) })]
	} else {
		for n := range x.sizes {
			rarest = append(rarest, count{int32(n), 1})
		}
	}
	score := func(c count) float64 { return saturated(float64(c.times), float64(x.sizes[c.chunk])/x.mean) }
	slices.SortStableFunc(rarest, func(a, b count) int { return cmp.Compare(score(b), score(a)) })
	for _, c := range rarest {
		places = append(places, int(c.chunk))
	}
	return places, nil
}
