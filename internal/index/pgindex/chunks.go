package pgindex

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
)

// rows reads one index. Its chunks and counts of late are held.
type rows struct {
	store      *Store
	schema     string
	dimensions int // of the vectors
	size       int // chunks of the index
	counts     recent[string, []index.Count]
	chunks     recent[int, chunk.Chunk]
}

// ask puts one question, in its time, and reads what is answered row by row.
func (r *rows) ask(ctx context.Context, doing, sql string, args, into []any, row func() error) error {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	answer, err := r.store.pool.Query(ctx, strings.ReplaceAll(sql, "INDEX", r.schema), args...)
	if err == nil {
		_, err = pgx.ForEachRow(answer, into, row)
	}
	return r.store.explain(doing, err)
}

// Chunks is index.Rows's, as are the others.
func (r *rows) Chunks(ctx context.Context, places []int) ([]chunk.Chunk, error) {
	held, err := r.chunks.get(places, func(missing []int) (map[int]chunk.Chunk, error) {
		return r.readChunks(ctx, missing)
	})
	all := make([]chunk.Chunk, 0, len(held))
	for _, n := range places {
		if c, ok := held[n]; ok {
			all = append(all, c)
		}
	}
	if err == nil && len(all) < len(places) {
		err = r.store.explain("reading chunks", fmt.Errorf("%d chunks are missing", len(places)-len(all)))
	}
	return all, cmp.Or(err, ctx.Err())
}

func (r *rows) readChunks(ctx context.Context, places []int) (map[int]chunk.Chunk, error) {
	read := map[int]chunk.Chunk{}
	var c chunk.Chunk
	var n int
	var kind string
	var texts [7][]byte
	err := r.ask(ctx, "reading chunks", `SELECT n, path, start_line, end_line, kind, language, scope, name, signature,
		doc, text, defines FROM INDEX.chunk WHERE n = ANY($1)`, []any{places},
		[]any{&n, &texts[0], &c.StartLine, &c.EndLine, &kind, &c.Language, &texts[1], &texts[2], &texts[3], &texts[4],
			&texts[5], &texts[6]}, func() error {
			c.Kind, c.Path, c.Scope, c.Name = chunk.Kind(kind), string(texts[0]), string(texts[1]), string(texts[2])
			c.Signature, c.Doc, c.Text = string(texts[3]), string(texts[4]), string(texts[5])
			c.Defines = nil
			if len(texts[6]) > 0 {
				c.Defines = strings.Split(string(texts[6]), "\n")
			}
			read[n] = c
			return nil
		})
	return read, err
}

// Defining is index.Rows's.
func (r *rows) Defining(ctx context.Context, most int, names []string) (map[string][]int, error) {
	wanted := make([][]byte, len(names))
	for i, name := range names {
		wanted[i] = []byte(name)
	}
	var name []byte
	var places []int
	all := map[string][]int{}
	err := r.ask(ctx, "looking for definitions", `SELECT name, array_agg(DISTINCT n ORDER BY n) FROM INDEX.definition
		WHERE name = ANY($1) GROUP BY name HAVING $2 = 0 OR count(*) <= $2`, []any{wanted, most},
		[]any{&name, &places}, func() error {
			all[string(name)], places = places, nil
			return nil
		})
	return all, err
}

// Counts is index.Rows's. They are scored by index.Source: a rank of full-text search
// knows no rare words, and could not agree with that of an index in memory.
func (r *rows) Counts(ctx context.Context, tokens []string) (map[string][]index.Count, error) {
	return r.counts.get(tokens, func(missing []string) (map[string][]index.Count, error) {
		return r.readCounts(ctx, missing)
	})
}

func (r *rows) readCounts(ctx context.Context, tokens []string) (map[string][]index.Count, error) {
	all := map[string][]index.Count{}
	for _, token := range tokens {
		all[token] = nil // none is an answer too
	}
	var token string
	var packed []byte
	err := r.ask(ctx, "searching words", `SELECT token, held FROM INDEX.posting WHERE token = ANY($1)`, []any{tokens},
		[]any{&token, &packed}, func() error {
			var counts []index.Count
			for last := int32(-1); len(packed) > 0; {
				step, n := binary.Uvarint(packed)
				times, m := binary.Uvarint(packed[max(n, 0):])
				if last += int32(step); n <= 0 || m <= 0 || last < 0 || int(last) >= r.size {
					return fmt.Errorf("the counts of %q are damaged", token)
				}
				packed = packed[n+m:]
				counts = append(counts, index.Count{Chunk: last, Times: uint16(times)})
			}
			all[token] = counts
			return nil
		})
	return all, err
}

// Nearest is index.Rows's. HNSW is nearly exact; where paths are filtered it is not
// asked, since it may leave too few, and all that pass are compared.
func (r *rows) Nearest(ctx context.Context, vector []float32, k int,
	keep func(int) bool) (all []index.Near, err error) {
	from, args := "INDEX.vector", []any{literal(vector), k}
	if keep != nil {
		passing := []int{}
		for n := range r.size {
			if keep(n) {
				passing = append(passing, n)
			}
		}
		from = "(SELECT n, embedding FROM INDEX.vector WHERE n = ANY($3) OFFSET 0)"
		args = append(args, passing)
	}
	// some more are asked for than are wanted, so that equal ones come in their order
	sql := fmt.Sprintf(`SELECT n, 1 - d FROM (SELECT n, embedding <=> $1::%s AS d
		FROM %s v ORDER BY d LIMIT $2 + 40) near ORDER BY d, n LIMIT $2`, vectorType(r.dimensions), from)
	var near index.Near
	err = r.ask(ctx, "searching vectors", sql, args, []any{&near.Place, &near.Cosine}, func() error {
		all = append(all, near)
		return nil
	})
	return all, err
}

// vectorType is pgvector's type for vectors of so many dimensions.
func vectorType(dimensions int) string {
	if dimensions >= halfFrom {
		return "halfvec"
	}
	return "vector"
}
