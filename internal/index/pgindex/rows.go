package pgindex

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/org/pr-review-action/internal/index"
)

// rows reads one index: index.Rows.
type rows struct {
	store  *Store
	schema string
	chunks recent[int]
	words  recent[string]
}

// recent is what was read from a table of late, by its key: one question looks at the same
// chunks and words several times, and an index here never changes.
type recent[K comparable] struct {
	mu   sync.Mutex
	held map[K]string
	room int // values that are held before all are let go
}

const (
	recentWords  = 500
	recentChunks = 5_000
)

// get gives the values of keys, empty ones where the table has none, and asks for those that
// are not held.
func (r *recent[K]) get(keys []K, ask func(missing []K, into map[K]string) error) (map[K]string, error) {
	all, missing := map[K]string{}, []K(nil)
	r.mu.Lock()
	for _, key := range keys {
		if v, ok := r.held[key]; ok {
			all[key] = v
		} else {
			missing = append(missing, key)
		}
	}
	r.mu.Unlock()
	if len(missing) == 0 {
		return all, nil
	}
	if err := ask(missing, all); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == nil || len(r.held)+len(missing) > r.room {
		r.held = map[K]string{}
	}
	for _, key := range missing {
		r.held[key] = all[key] // none is an answer too
	}
	return all, nil
}

// ask puts one question, in its time, and reads what is answered row by row.
func (r *rows) ask(ctx context.Context, doing, sql string, args, into []any, row func() error) error {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	answer, err := r.store.pool.Query(ctx, strings.ReplaceAll(sql, "$SCHEMA", r.schema), args...)
	if err == nil {
		_, err = pgx.ForEachRow(answer, into, row)
	}
	return r.store.explain(doing, err)
}

// Records is index.Rows's, as are the others.
func (r *rows) Records(ctx context.Context, places []int) ([]string, error) {
	const doing = "reading chunks"
	held, err := r.chunks.get(places, func(missing []int, into map[int]string) error {
		var n int
		var record []byte
		return r.ask(ctx, doing, `SELECT n, record FROM $SCHEMA.chunk WHERE n = ANY($1)`, []any{missing},
			[]any{&n, &record}, func() error {
				into[n] = string(record)
				return nil
			})
	})
	if err != nil {
		return nil, err
	}
	all := make([]string, len(places))
	for i, n := range places {
		if all[i] = held[n]; all[i] == "" {
			return nil, r.store.explain(doing, fmt.Errorf("chunk %d is missing", n))
		}
	}
	return all, ctx.Err()
}

// Words is index.Rows's. Chunks are scored by index.Source: a rank of full-text search
// knows no rare words, and could not agree with that of an index in memory.
func (r *rows) Words(ctx context.Context, names []string) (map[string]string, error) {
	all, err := r.words.get(names, func(missing []string, into map[string]string) error {
		wanted := make([][]byte, len(missing))
		for i, name := range missing {
			wanted[i] = []byte(name)
		}
		var name, held []byte
		return r.ask(ctx, "searching words", `SELECT name, held FROM $SCHEMA.word WHERE name = ANY($1)`, []any{wanted},
			[]any{&name, &held}, func() error {
				into[string(name)] = string(held)
				return nil
			})
	})
	return all, cmp.Or(err, ctx.Err())
}

// Nearest is index.Rows's. HNSW is nearly exact; where paths are filtered it is not
// asked, since it may leave too few, and all that pass are compared.
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
	// some more are asked for than are wanted, so that equal ones come in their order
	sql := fmt.Sprintf(`SELECT n, 1 - d FROM (SELECT n, embedding <=> $1::%s AS d
		FROM %s v ORDER BY d LIMIT $2 + 40) near ORDER BY d, n LIMIT $2`, vectorType(len(vector)), from)
	var near index.Near
	err = r.ask(ctx, "searching vectors", sql, args, []any{&near.Place, &near.Score}, func() error {
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
