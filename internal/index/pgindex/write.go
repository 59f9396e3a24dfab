package pgindex

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/org/pr-review-action/internal/index"
)

const (
	rowsAtATime = 500
	kept        = 20    // indexes of a repository that stay at least
	halfFrom    = 2_001 // dimensions that pgvector's HNSW takes as halfvec alone
	mostVectors = 4_000 // dimensions that it takes at all
)

// Write keeps an index and what was said of its making, unless another process has done so, and opens it. Indexes of
// the repository that nobody asked for in a day go, but for the newest.
func (s *Store) Write(ctx context.Context, k index.Key, x *index.Index, made index.Report) (*index.Source, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		w := writer{ctx: ctx, tx: tx, x: x, made: made}
		if err := w.enter(k, s); errors.Is(err, pgx.ErrNoRows) {
			return nil // it is there
		} else if err != nil {
			return err
		}
		for _, step := range []func() error{w.tables, w.report, w.files, w.chunks, w.names, w.postings, w.vectors, w.finish} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.explain("writing the index", err)
	}
	s.forget(ctx, k.Repository)
	return s.Find(ctx, k)
}

// writer writes one index.
type writer struct {
	ctx        context.Context
	tx         pgx.Tx
	x          *index.Index
	made       index.Report
	schema     string
	dimensions int // of the vectors; 0 for none
}

// enter puts the index on the list. Where it is there, or comes to be there while this
// waits, the error is pgx.ErrNoRows.
func (w *writer) enter(k index.Key, s *Store) error {
	info := w.x.Vectors()
	if s.vectors && k.Model != "" && info.Dimensions <= mostVectors {
		w.dimensions = info.Dimensions
	}
	var sizes []byte
	sum := 0.0
	for _, n := range w.x.Sizes() {
		sizes = binary.AppendUvarint(sizes, uint64(n))
		sum += float64(n)
	}
	// earlier versions, whose table it is too, read the mean size there
	mean := cmp.Or(sum/float64(max(1, len(w.x.Sizes()))), 1)
	var id int64
	err := w.tx.QueryRow(w.ctx, `INSERT INTO pr_review_index.list (repository, commit, made, model, dimensions, missing,
		mean, sizes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id`,
		k.Repository, k.Commit, k.Made, s.model(k), w.dimensions, info.Missing, mean, notNil(sizes)).Scan(&id)
	w.schema = schemaOf(id)
	return err
}

// tables makes the index's own. Texts are bytes: not all that is in a repository is UTF-8.
func (w *writer) tables() error {
	for _, sql := range []string{`CREATE SCHEMA %s`,
		`CREATE TABLE %s.report (json bytea NOT NULL)`,
		`CREATE TABLE %s.file (n int PRIMARY KEY, path bytea NOT NULL, first int, next int, imports int[])`,
		`CREATE TABLE %s.chunk (n int PRIMARY KEY, path bytea, start_line int, end_line int, kind text, language text,
			scope bytea, name bytea, signature bytea, doc bytea, text bytea, defines bytea)`,
		`CREATE TABLE %s.definition (name bytea, n int)`,
		`CREATE TABLE %s.posting (token text PRIMARY KEY, held bytea)`} {
		if _, err := w.tx.Exec(w.ctx, fmt.Sprintf(sql, w.schema)); err != nil {
			return err
		}
	}
	return nil
}

// insert writes the rows of a table, whose columns are of these types: text::vector is
// given as a text. They go as arrays, since not every server takes COPY.
func (w *writer) insert(table, types string, rows iter.Seq[[]any]) error {
	var arrays, names, values []string
	for i, t := range strings.Fields(types) {
		given, _, _ := strings.Cut(t, "::")
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, given))
		names = append(names, fmt.Sprintf("c%d", i))
		values = append(values, names[i]+strings.TrimPrefix(t, given))
	}
	sql := fmt.Sprintf(`INSERT INTO %s.%s SELECT %s FROM unnest(%s) u(%s)`, w.schema, table,
		strings.Join(values, ", "), strings.Join(arrays, ", "), strings.Join(names, ", "))
	columns := make([][]any, len(names))
	flush := func() error {
		args := make([]any, len(columns))
		for i := range columns {
			args[i] = columns[i]
		}
		_, err := w.tx.Exec(w.ctx, sql, args...)
		clear(columns)
		return err
	}
	for row := range rows {
		for i, value := range row {
			columns[i] = append(columns[i], value)
		}
		if len(columns[0]) == rowsAtATime {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func (w *writer) report() error {
	text, err := json.Marshal(w.made)
	if err == nil {
		_, err = w.tx.Exec(w.ctx, fmt.Sprintf(`INSERT INTO %s.report VALUES ($1)`, w.schema), text)
	}
	return err
}

func (w *writer) files() error {
	imports := w.x.Imports()
	return w.insert("file", "int bytea int int text::int[]", func(yield func([]any) bool) {
		for n, f := range w.x.Files() {
			if !yield([]any{n, []byte(f.Path), f.First, f.Next, array(imports[n])}) {
				return
			}
		}
	})
}

// array is a list of numbers as Postgres reads it.
func array(numbers []int) string {
	all := make([]string, len(numbers))
	for i, n := range numbers {
		all[i] = strconv.Itoa(n)
	}
	return "{" + strings.Join(all, ",") + "}"
}

func (w *writer) chunks() error {
	return w.insert("chunk", "int bytea int int text text bytea bytea bytea bytea bytea bytea",
		func(yield func([]any) bool) {
			for n, c := range w.x.Chunks() {
				if !yield([]any{n, []byte(c.Path), c.StartLine, c.EndLine, string(c.Kind), c.Language, []byte(c.Scope),
					[]byte(c.Name), []byte(c.Signature), []byte(c.Doc), []byte(c.Text),
					[]byte(strings.Join(c.Defines, "\n"))}) {
					return
				}
			}
		})
}

func (w *writer) names() error {
	return w.insert("definition", "bytea int", func(yield func([]any) bool) {
		for n, c := range w.x.Chunks() {
			for _, name := range c.Defines {
				if !yield([]any{[]byte(name), n}) {
					return
				}
			}
		}
	})
}

func (w *writer) postings() error {
	return w.insert("posting", "text bytea", func(yield func([]any) bool) {
		for token, counts := range w.x.Postings() {
			if !yield([]any{token, pack(counts)}) {
				return
			}
		}
	})
}

// pack is counts in few bytes: the distance from the chunk before, and how often.
func pack(counts []index.Count) []byte {
	packed, last := []byte{}, int32(-1)
	for _, c := range counts {
		packed = binary.AppendUvarint(packed, uint64(c.Chunk-last))
		packed = binary.AppendUvarint(packed, uint64(c.Times))
		last = c.Chunk
	}
	return packed
}

func (w *writer) vectors() error {
	if w.dimensions == 0 {
		return nil
	}
	kind := vectorType(w.dimensions)
	_, err := w.tx.Exec(w.ctx, fmt.Sprintf(`CREATE TABLE %s.vector (n int, embedding %s(%d))`, w.schema, kind,
		w.dimensions))
	if err == nil {
		err = w.insert("vector", "int text::"+kind, func(yield func([]any) bool) {
			for n, v := range w.x.EachVector() {
				if !yield([]any{n, literal(v)}) {
					return
				}
			}
		})
	}
	if err == nil {
		_, err = w.tx.Exec(w.ctx, fmt.Sprintf(`CREATE INDEX ON %s.vector USING hnsw (embedding %s_cosine_ops)`,
			w.schema, kind))
	}
	return err
}

// literal is a vector as pgvector reads it.
func literal(v []float32) string {
	b := append(make([]byte, 0, 12*len(v)+2), '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return string(append(b, ']'))
}

// finish makes what is looked up by.
func (w *writer) finish() error {
	for _, sql := range []string{`CREATE INDEX ON %s.definition (name)`, `ANALYZE %s.chunk`, `ANALYZE %s.posting`} {
		if _, err := w.tx.Exec(w.ctx, fmt.Sprintf(sql, w.schema)); err != nil {
			return err
		}
	}
	return nil
}

// forget removes old indexes. One that cannot be removed now will be another time.
func (s *Store) forget(ctx context.Context, repository string) {
	_ = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `DELETE FROM pr_review_index.list WHERE used < now() - interval '1 day' AND id IN
			(SELECT id FROM pr_review_index.list WHERE repository = $1 ORDER BY used DESC OFFSET $2) RETURNING id`,
			repository, kept)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, id := range ids {
			if err == nil {
				_, err = tx.Exec(ctx, `DROP SCHEMA IF EXISTS `+schemaOf(id)+` CASCADE`)
			}
		}
		return err
	})
}

func notNil(b []byte) []byte { return append([]byte{}, b...) }
