package pgindex

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/org/pr-review-action/internal/index"
)

// rows reads one index. It implements index.Rows.
type rows struct {
	store  *Store
	schema string
	// values by key, empty if there is none: one question reads the same rows several times,
	// and a stored index never changes
	known sync.Map
}

// ask runs a query, bounded by queryTime. It scans each row into the pointers of into, then calls row.
func (r *rows) ask(ctx context.Context, doing, sql string, args, into []any, row func() error) error {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	answer, err := r.store.pool.Query(ctx, strings.ReplaceAll(sql, "$SCHEMA", r.schema), args...)
	if err == nil {
		_, err = pgx.ForEachRow(answer, into, row)
	}
	return r.store.explain(doing, err)
}

// Get implements index.Rows. The scoring is index.Source's: Postgres's full-text ranking
// ignores how rare a word is, and could not agree with that of an index in memory.
func (r *rows) Get(ctx context.Context, keys []string) ([]string, error) {
	values, asked := make([]string, len(keys)), [][]byte{}
	for _, key := range keys {
		if _, ok := r.known.Load(key); !ok {
			asked = append(asked, []byte(key))
		}
	}
	if len(asked) > 0 {
		var key, value []byte
		err := r.ask(ctx, "reading rows", `SELECT key, value FROM $SCHEMA.row WHERE key = ANY($1)`, []any{asked},
			[]any{&key, &value}, func() error {
				r.known.Store(string(key), string(value))
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	for i, key := range keys {
		value, _ := r.known.LoadOrStore(key, "") // not stored if the query did not return it
		values[i] = value.(string)
	}
	return values, ctx.Err()
}

// Nearest implements index.Rows. HNSW is nearly exact. With a filter it could leave too few
// chunks, so then it is not used, and all chunks that pass are compared.
func (r *rows) Nearest(ctx context.Context, vector []float32, k int, among []bool) (all []index.Near, err error) {
	from, args := "$SCHEMA.vector", []any{literal(vector), k}
	if among != nil {
		passing := []int{}
		for n, passes := range among {
			if passes {
				passing = append(passing, n)
			}
		}
		from = "(SELECT n, embedding FROM $SCHEMA.vector WHERE n = ANY($3) OFFSET 0)"
		args = append(args, passing)
	}
	// the inner query returns 40 more than wanted, so that ties come in order of place
	sql := fmt.Sprintf(`SELECT n, 1 - d FROM (SELECT n, embedding <=> $1::%s AS d
		FROM %s v ORDER BY d LIMIT $2 + 40) near ORDER BY d, n LIMIT $2`, vectorType(len(vector)), from)
	var near index.Near
	err = r.ask(ctx, "searching vectors", sql, args, []any{&near.Place, &near.Score}, func() error {
		all = append(all, near)
		return nil
	})
	return all, err
}

// vectorType returns pgvector's type for vectors of that many dimensions.
func vectorType(dimensions int) string {
	if dimensions >= halfFrom {
		return "halfvec"
	}
	return "vector"
}

// literal returns a vector in pgvector's text form, which is also JSON.
func literal(v []float32) string {
	text, _ := json.Marshal(v) // all numbers in indexes and questions are finite
	return string(text)
}
