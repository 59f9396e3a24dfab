package pgindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/org/pr-review-action/internal/index"
)

const (
	rowsAtATime = 500
	kept        = 20    // indexes of a repository that always stay
	mostVectors = 4_000 // dimensions that pgvector's HNSW takes at most
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
	sql := `SELECT n, 1 - d FROM (SELECT n, embedding <=> $1::halfvec AS d
		FROM ` + from + ` v ORDER BY d LIMIT $2 + 40) near ORDER BY d, n LIMIT $2`
	var near index.Near
	err = r.ask(ctx, "searching vectors", sql, args, []any{&near.Place, &near.Score}, func() error {
		all = append(all, near)
		return nil
	})
	return all, err
}

// literal returns a vector in pgvector's text form, which is also JSON.
func literal(v []float32) string {
	text, _ := json.Marshal(v) // all numbers in indexes and questions are finite
	return string(text)
}

// Write stores an index and the report of its build, unless the key is there already, and opens it. It then removes
// the repository's indexes that were not used for a day, except for the most recently used.
func (s *Store) Write(ctx context.Context, k index.Key, x *index.Index, made index.Report) (*index.Source, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	if !s.vectors || k.Model == "" || x.Vectors().Dimensions > mostVectors {
		x = x.WithVectors("", 0, nil)
	}
	report, _ := json.Marshal(made) // texts and finite numbers: it cannot fail
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, `INSERT INTO pr_review_indexes.list (repository, commit, made, model, head, report)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING id`,
			append(s.columns(k), x.Head(), report)...).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // it is there, perhaps since this transaction began
		}
		if err != nil {
			return err
		}
		return (&writer{ctx: ctx, tx: tx, x: x, schema: schemaOf(id)}).write()
	})
	if err != nil {
		return nil, s.explain("writing the index", err)
	}
	s.forget(ctx, k.Repository)
	found, _, err := s.Find(ctx, k)
	return found, err
}

// writer writes one index. After an error it does nothing more.
type writer struct {
	ctx    context.Context
	tx     pgx.Tx
	x      *index.Index
	schema string
	err    error
}

// write creates and fills the tables of the index. Keys and values are bytea, since not all
// text in a repository is UTF-8. Numbers of vectors have a byte in an index, so two are enough.
func (w *writer) write() error {
	w.run(`CREATE SCHEMA $SCHEMA`)
	w.run(`CREATE TABLE $SCHEMA.row (key bytea PRIMARY KEY, value bytea)`)
	insert(w, `INSERT INTO $SCHEMA.row SELECT * FROM unnest($1::bytea[], $2::bytea[])`, w.x.Each())
	if dimensions := w.x.Vectors().Dimensions; dimensions > 0 {
		w.run(fmt.Sprintf(`CREATE TABLE $SCHEMA.vector (n int, embedding halfvec(%d))`, dimensions))
		insert(w, `INSERT INTO $SCHEMA.vector SELECT n, v::halfvec FROM unnest($1::int[], $2::text[]) u(n, v)`,
			func(yield func(int, string) bool) {
				w.x.EachVector()(func(n int, v []float32) bool { return yield(n, literal(v)) })
			})
		w.run(`CREATE INDEX ON $SCHEMA.vector USING hnsw (embedding halfvec_cosine_ops)`)
	}
	w.run(`ANALYZE $SCHEMA.row`)
	return w.err
}

func (w *writer) run(sql string, args ...any) {
	if w.err == nil {
		_, w.err = w.tx.Exec(w.ctx, strings.ReplaceAll(sql, "$SCHEMA", w.schema), args...)
	}
}

// insert writes rows of two columns. It sends them as arrays, since not every server takes COPY.
func insert[K, V any](w *writer, sql string, rows iter.Seq2[K, V]) {
	var keys []K
	var values []V
	for key, value := range rows {
		keys, values = append(keys, key), append(values, value)
		if len(keys) == rowsAtATime {
			w.run(sql, keys, values)
			keys, values = keys[:0], values[:0]
		}
	}
	w.run(sql, keys, values)
}

// forget removes old indexes. It ignores errors: a later run tries again.
func (s *Store) forget(ctx context.Context, repository string) {
	_ = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `DELETE FROM pr_review_indexes.list WHERE used < now() - interval '1 day' AND id IN
			(SELECT id FROM pr_review_indexes.list WHERE repository = $1 ORDER BY used DESC OFFSET $2) RETURNING id`,
			repository, kept)
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, id := range ids {
			if err == nil {
				_, err = tx.Exec(ctx, `DROP SCHEMA IF EXISTS `+schemaOf(id)+` CASCADE`)
			}
		}
		return err
	})
}
