package pgindex

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
)

func (x *Source) hits(ctx context.Context, best []int, score func(n int) float64) ([]index.Hit, error) {
	chunks, err := x.chunks(ctx, best)
	var hits []index.Hit
	for i, c := range chunks {
		hits = append(hits, index.Hit{Chunk: c, Score: score(best[i])})
	}
	return hits, err
}

// chunks are those at some places, in the order in which they are asked for.
func (x *Source) chunks(ctx context.Context, places []int) ([]chunk.Chunk, error) {
	held, err := x.chunk.get(places, func(missing []int) (map[int]chunk.Chunk, error) {
		return x.readChunks(ctx, missing)
	})
	all := make([]chunk.Chunk, 0, len(held))
	for _, n := range places {
		if c, ok := held[n]; ok {
			all = append(all, c)
		}
	}
	if err == nil && len(all) < len(places) {
		err = x.store.explain("reading chunks", fmt.Errorf("%d chunks are missing", len(places)-len(all)))
	}
	return all, cmp.Or(err, ctx.Err())
}

func (x *Source) readChunks(ctx context.Context, places []int) (map[int]chunk.Chunk, error) {
	ctx, cancel := asked(ctx)
	defer cancel()
	wanted := make([]int32, len(places))
	for i, n := range places {
		wanted[i] = int32(n)
	}
	rows, err := x.store.pool.Query(ctx, `SELECT n, path, start_line, end_line, kind, language, scope, name, signature,
		doc, text, defines FROM `+x.schema+`.chunk WHERE n = ANY($1)`, wanted)
	if err != nil {
		return nil, x.store.explain("reading chunks", err)
	}
	read := map[int]chunk.Chunk{}
	var c chunk.Chunk
	var n int
	var kind string
	var texts [7][]byte
	_, err = pgx.ForEachRow(rows, []any{&n, &texts[0], &c.StartLine, &c.EndLine, &kind, &c.Language, &texts[1],
		&texts[2], &texts[3], &texts[4], &texts[5], &texts[6]}, func() error {
		c.Kind, c.Path, c.Scope, c.Name = chunk.Kind(kind), string(texts[0]), string(texts[1]), string(texts[2])
		c.Signature, c.Doc, c.Text = string(texts[3]), string(texts[4]), string(texts[5])
		c.Defines = nil
		if len(texts[6]) > 0 {
			c.Defines = strings.Split(string(texts[6]), "\n")
		}
		read[n] = c
		return nil
	})
	return read, x.store.explain("reading chunks", err)
}

// Defines is index.Source's.
func (x *Source) Defines(ctx context.Context, most int, names ...string) (map[string][]chunk.Chunk, error) {
	limited, cancel := asked(ctx)
	defer cancel()
	wanted := make([][]byte, len(names))
	for i, name := range names {
		wanted[i] = []byte(name)
	}
	rows, err := x.store.pool.Query(limited, `SELECT name, array_agg(DISTINCT n ORDER BY n) FROM `+x.schema+`.definition
		WHERE name = ANY($1) GROUP BY name HAVING $2 = 0 OR count(*) <= $2`, wanted, most)
	if err != nil {
		return nil, x.store.explain("looking for definitions", err)
	}
	var name []byte
	var places []int32
	at, all := map[string][]int32{}, []int{}
	_, err = pgx.ForEachRow(rows, []any{&name, &places}, func() error {
		at[string(name)] = slices.Clone(places)
		for _, n := range places {
			all = append(all, int(n))
		}
		return nil
	})
	if err != nil {
		return nil, x.store.explain("looking for definitions", err)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	chunks, err := x.chunks(ctx, all)
	by := map[string][]chunk.Chunk{}
	for name, places := range at {
		for _, n := range places {
			if i, ok := slices.BinarySearch(all, int(n)); ok && i < len(chunks) {
				by[name] = append(by[name], chunks[i])
			}
		}
	}
	return by, err
}

// In is index.Source's.
func (x *Source) In(ctx context.Context, path string, from, to int) ([]chunk.Chunk, error) {
	at, ok := x.places[path]
	if !ok {
		return nil, ctx.Err()
	}
	var places []int
	for n := x.files[at].First; n < x.files[at].Next; n++ {
		places = append(places, n)
	}
	all, err := x.chunks(ctx, places)
	return slices.DeleteFunc(all, func(c chunk.Chunk) bool {
		return c.StartLine > cmp.Or(to, math.MaxInt) || c.EndLine < from
	}), err
}
