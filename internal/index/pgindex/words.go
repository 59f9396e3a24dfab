package pgindex

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/lang"
)

// Lexical is index.Source's. The counts come from the database and are scored here, as
// index.Index does: a rank of full-text search knows no rare words, and could not agree.
func (x *Source) Lexical(ctx context.Context, terms []index.Term, k int, f index.Filter) ([]index.Hit, error) {
	var tokens []string
	for _, t := range terms {
		tokens = append(tokens, t.Tokens...)
	}
	held, err := x.postings(ctx, tokens)
	if err != nil {
		return nil, err
	}
	scores := index.Scores(terms, x.sizes, x.mean, func(token string) []index.Count { return held[token] })
	best := index.Best(scores, k, x.keep(f))
	return x.hits(ctx, best, func(n int) float64 { return scores[n] })
}

// postings are those of some tokens.
func (x *Source) postings(ctx context.Context, tokens []string) (map[string][]index.Count, error) {
	return x.counts.get(tokens, func(missing []string) (map[string][]index.Count, error) {
		return x.readPostings(ctx, missing)
	})
}

func (x *Source) readPostings(ctx context.Context, tokens []string) (map[string][]index.Count, error) {
	ctx, cancel := asked(ctx)
	defer cancel()
	all := map[string][]index.Count{}
	for _, token := range tokens {
		all[token] = nil // none is an answer too
	}
	rows, err := x.store.pool.Query(ctx, `SELECT token, held FROM `+x.schema+`.posting WHERE token = ANY($1)`,
		tokens)
	if err != nil {
		return nil, x.store.explain("searching words", err)
	}
	var token string
	var packed []byte
	_, err = pgx.ForEachRow(rows, []any{&token, &packed}, func() error {
		var counts []index.Count
		for last := int32(-1); len(packed) > 0; {
			step, n := binary.Uvarint(packed)
			times, m := binary.Uvarint(packed[max(n, 0):])
			if last += int32(step); n <= 0 || m <= 0 || last < 0 || int(last) >= len(x.sizes) {
				return fmt.Errorf("the counts of %q are damaged", token)
			}
			packed = packed[n+m:]
			counts = append(counts, index.Count{Chunk: last, Times: uint16(times)})
		}
		all[token] = counts
		return nil
	})
	return all, x.store.explain("searching words", err)
}

// Mentions is index.Source's.
func (x *Source) Mentions(ctx context.Context, name string, k int) ([]chunk.Chunk, error) {
	return x.mentions(ctx, name, k, nil)
}

// mentions looks for a name in the chunks that hold its rarest token, in the order in
// which they are wanted, until there are enough.
func (x *Source) mentions(ctx context.Context, name string, k int, keep func(path string) bool) ([]chunk.Chunk, error) {
	candidates, err := x.holding(ctx, name, keep)
	var found []chunk.Chunk
	for n := min(k, rowsAtATime/2); len(candidates) > 0 && err == nil && len(found) < k; {
		n = min(2*n, rowsAtATime, len(candidates)) // most that are asked for hold it
		var chunks []chunk.Chunk
		chunks, err = x.chunks(ctx, candidates[:n])
		candidates = candidates[n:]
		for _, c := range chunks {
			if len(found) < k && index.Holds(c.Text, name) {
				found = append(found, c)
			}
		}
	}
	return found, err
}

// holding are the chunks in which a name may be, those first that say little else.
func (x *Source) holding(ctx context.Context, name string, keep func(path string) bool) ([]int, error) {
	tokens := chunk.Tokens(name)
	held, err := x.postings(ctx, tokens)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(x.sizes))
	if len(tokens) == 0 {
		for n := range scores {
			scores[n] = index.Saturated(1, float64(x.sizes[n])/x.mean)
		}
	} else {
		rarest := held[slices.MinFunc(tokens, func(a, b string) int {
			return cmp.Compare(len(held[a]), len(held[b]))
		})]
		for _, c := range rarest {
			scores[c.Chunk] = index.Saturated(float64(c.Times), float64(x.sizes[c.Chunk])/x.mean)
		}
	}
	if keep != nil {
		for _, f := range x.files {
			if !keep(f.Path) {
				clear(scores[f.First:f.Next])
			}
		}
	}
	var order []int
	for n, s := range scores {
		if s > 0 {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order, nil
}

// TestsOf is index.Source's.
func (x *Source) TestsOf(ctx context.Context, path string, names []string, k int) ([]chunk.Chunk, error) {
	var own, others []chunk.Chunk
	for _, name := range names {
		found, err := x.mentions(ctx, name, math.MaxInt, lang.IsTest)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			if index.Tests(c.Path, path) {
				own = append(own, c)
			} else {
				others = append(others, c)
			}
		}
	}
	for _, f := range x.files {
		if len(names) > 0 || !index.Tests(f.Path, path) {
			continue
		}
		found, err := x.In(ctx, f.Path, 0, 0)
		if err != nil {
			return nil, err
		}
		own = append(own, found...)
	}
	return index.First(append(own, others...), k), nil
}
