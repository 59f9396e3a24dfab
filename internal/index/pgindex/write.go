package pgindex

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/org/pr-review-action/internal/index"
)

const (
	rowsAtATime = 2_000
	kept        = 20    // indexes of a repository that stay at least
	halfFrom    = 2_001 // dimensions that pgvector's HNSW takes as halfvec alone
	mostVectors = 4_000 // dimensions that it takes at all
)

// Write keeps an index, unless another process has done so, and opens it. Indexes of
// the repository that nobody asked for in a day go, but for the newest.
func (s *Store) Write(ctx context.Context, k Key, x *index.Index) (*Source, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		w := writer{ctx: ctx, tx: tx, x: x}
		if err := w.enter(k, s); errors.Is(err, pgx.ErrNoRows) {
			return nil // it is there
		} else if err != nil {
			return err
		}
		for _, step := range []func() error{w.tables, w.files, w.chunks, w.names, w.postings, w.vectors, w.finish} {
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
	schema     string
	dimensions int // of the vectors; 0 for none
}

// enter puts the index on the list. Where it is there, or comes to be there while this
// waits, the error is pgx.ErrNoRows.
func (w *writer) enter(k Key, s *Store) error {
	info, err := w.x.Vectors(w.ctx)
	if err != nil {
		return err
	}
	if s.vectors && k.Model != "" && info.Dimensions <= mostVectors {
		w.dimensions = info.Dimensions
	}
	var sizes []byte
	sum := 0.0
	for _, n := range w.x.Sizes() {
		sizes = binary.AppendUvarint(sizes, uint64(n))
		sum += float64(n)
	}
	mean := sum / max(1, float64(len(w.x.Sizes())))
	if mean == 0 {
		mean = 1
	}
	var id int64
	err = w.tx.QueryRow(w.ctx, `INSERT INTO pr_review_index.list (repository, commit, made, model, dimensions, missing,
		mean, sizes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id`,
		k.Repository, k.Commit, k.Made, s.model(k), w.dimensions, info.Missing, mean, notNil(sizes)).Scan(&id)
	w.schema = schemaOf(id)
	return err
}

// tables makes the index's own. Texts are bytes: not all that is in a repository is UTF-8.
func (w *writer) tables() error {
	for _, sql := range []string{`CREATE SCHEMA %s`,
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

// insert writes rows that are given by column, each column an array.
func (w *writer) insert(table, types string, columns ...any) error {
	var all []string
	for i, t := range strings.Fields(types) {
		all = append(all, fmt.Sprintf("$%d::%s[]", i+1, t))
	}
	_, err := w.tx.Exec(w.ctx, fmt.Sprintf(`INSERT INTO %s.%s SELECT * FROM unnest(%s)`, w.schema, table,
		strings.Join(all, ", ")), columns...)
	return err
}

func (w *writer) files() error {
	n := 0
	for some := range slices.Chunk(w.x.Files(), rowsAtATime) {
		var rows [3][]int32
		var paths [][]byte
		var imports []string
		for _, f := range some {
			rows[0], rows[1], rows[2] = append(rows[0], int32(n)), append(rows[1], int32(f.First)),
				append(rows[2], int32(f.Next))
			paths, imports = append(paths, []byte(f.Path)), append(imports, array(f.Imports))
			n++
		}
		_, err := w.tx.Exec(w.ctx, fmt.Sprintf(`INSERT INTO %s.file SELECT n, path, first, next, imports::int[]
			FROM unnest($1::int[], $2::bytea[], $3::int[], $4::int[], $5::text[]) u(n, path, first, next, imports)`,
			w.schema), rows[0], paths, rows[1], rows[2], imports)
		if err != nil {
			return err
		}
	}
	return nil
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
	n := int32(0)
	for some := range slices.Chunk(w.x.Chunks(), rowsAtATime) {
		var places, starts, ends []int32
		var kinds, languages []string
		var texts [7][][]byte // path, scope, name, signature, doc, text, defines
		for _, c := range some {
			places, starts, ends = append(places, n), append(starts, int32(c.StartLine)), append(ends, int32(c.EndLine))
			kinds, languages = append(kinds, string(c.Kind)), append(languages, c.Language)
			for i, text := range []string{c.Path, c.Scope, c.Name, c.Signature, c.Doc, c.Text,
				strings.Join(c.Defines, "\n")} {
				texts[i] = append(texts[i], []byte(text))
			}
			n++
		}
		err := w.insert("chunk", "int bytea int int text text bytea bytea bytea bytea bytea bytea", places, texts[0],
			starts, ends, kinds, languages, texts[1], texts[2], texts[3], texts[4], texts[5], texts[6])
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) names() error {
	var names [][]byte
	var places []int32
	for n, c := range w.x.Chunks() {
		for _, name := range c.Defines {
			names, places = append(names, []byte(name)), append(places, int32(n))
		}
	}
	return w.insert("definition", "bytea int", names, places)
}

func (w *writer) postings() error {
	var tokens []string
	var held [][]byte
	size := 0
	flush := func() error {
		err := w.insert("posting", "text bytea", tokens, held)
		tokens, held, size = nil, nil, 0
		return err
	}
	for token, counts := range w.x.Postings() {
		packed := pack(counts)
		tokens, held, size = append(tokens, token), append(held, packed), size+len(packed)
		if len(tokens) == rowsAtATime || size > 4<<20 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
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
	kind := "vector"
	if w.dimensions >= halfFrom {
		kind = "halfvec"
	}
	_, err := w.tx.Exec(w.ctx, fmt.Sprintf(`CREATE TABLE %s.vector (n int, embedding %s(%d))`, w.schema, kind,
		w.dimensions))
	var places []int32
	var texts []string
	flush := func() {
		if err == nil {
			_, err = w.tx.Exec(w.ctx, fmt.Sprintf(`INSERT INTO %s.vector SELECT n, v::%s
				FROM unnest($1::int[], $2::text[]) u(n, v)`, w.schema, kind), places, texts)
		}
		places, texts = nil, nil
	}
	for n, v := range w.x.EachVector() {
		if places, texts = append(places, int32(n)), append(texts, literal(v)); len(places) == rowsAtATime/4 {
			flush()
		}
	}
	flush()
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
