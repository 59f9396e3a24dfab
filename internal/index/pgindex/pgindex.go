// Package pgindex keeps the indexes of base commits in a Postgres database and answers
// questions about them there, for teams that share one: words by the counts that
// index.Index has, vectors by pgvector's HNSW where the server has that extension.
//
// Each index has a schema of its own, written in one transaction and never changed, so
// that a half-written one is not there and an old one goes at once. It is never given
// the index of a change, and shows no password. Start reading at Store.
package pgindex

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/org/pr-review-action/internal/index"
)

// NoVectors is said where a server has no pgvector.
const NoVectors = "The database has no pgvector extension, so search went by words and structure alone."

// Store is a database. It may be used from many goroutines.
type Store struct {
	pool    *pgxpool.Pool
	where   string
	vectors bool // the server has pgvector
}

const (
	connectTime = 10 * time.Second
	queryTime   = 15 * time.Second
	writeTime   = 10 * time.Minute
	connections = 4

	recentWords  = 500 // of an index that is asked
	recentChunks = 5_000

	efSearch = "100" // of HNSW: its default of 40 loses some of the 40 nearest
)

// Open connects to the database that a URL names, with a password where the URL and
// libpq's own variables have none, and makes what it needs there. The error is an *Error.
func Open(ctx context.Context, url, password string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil { // its text may quote the URL
		return nil, &Error{what: "index.store is not the address of a Postgres database",
			next: "write it as postgres://USER@HOST:5432/DATABASE, special characters as %XX"}
	}
	c := config.ConnConfig
	if password != "" {
		c.Password = password
	}
	c.ConnectTimeout, config.MaxConns = connectTime, connections
	// statements without names: behind a pooler, and in PGlite, others' sessions are ours
	c.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, `SELECT set_config('hnsw.ef_search', $1, false)`, efSearch)
		return err
	}
	s := &Store{where: net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.explain("connecting", err)
	}
	if err := s.prepare(ctx); err != nil {
		s.pool.Close()
		return nil, s.explain("opening", err)
	}
	return s, nil
}

// prepare makes the list of indexes. The lock is for processes that do so at once.
func (s *Store) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*connectTime)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('pr_review_index'))`)
		if err == nil {
			_, err = tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS pr_review_index`)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS pr_review_index.list (
				id bigserial PRIMARY KEY, repository text NOT NULL, commit text NOT NULL, made text NOT NULL,
				model text NOT NULL, dimensions int NOT NULL, missing int NOT NULL, mean float8 NOT NULL,
				sizes bytea NOT NULL, used timestamptz NOT NULL DEFAULT now(),
				UNIQUE (repository, commit, made, model))`)
		}
		return err
	})
	if err != nil {
		return err
	}
	// without the right to do so the extension is there already, or it is not used
	_, _ = s.pool.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS vector`)
	return s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')`).Scan(&s.vectors)
}

// Vectors reports whether the server can search vectors.
func (s *Store) Vectors() bool { return s.vectors }

// Where names the host and the database, without user and password.
func (s *Store) Where() string { return s.where }

// Close ends the connections.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// Find opens the index of a key; nil where the database has none.
func (s *Store) Find(ctx context.Context, k index.Key) (*index.Source, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	r := &rows{store: s}
	r.counts.room, r.chunks.room = recentWords, recentChunks
	info := index.VectorsInfo{Model: k.Model}
	var id int64
	var packed []byte
	var reported bool // indexes of earlier versions have no report
	err := s.pool.QueryRow(ctx, `UPDATE pr_review_index.list SET used = now()
		WHERE repository = $1 AND commit = $2 AND made = $3 AND model = $4
		RETURNING id, dimensions, missing, sizes, to_regclass('pr_review_index_' || id || '.report') IS NOT NULL`,
		k.Repository, k.Commit, k.Made, s.model(k)).Scan(&id, &info.Dimensions, &info.Missing, &packed, &reported)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, s.explain("looking for the index", err)
	}
	var sizes []uint32
	for b := bytes.NewReader(packed); b.Len() > 0; {
		n, err := binary.ReadUvarint(b)
		if err != nil {
			return nil, s.explain("reading the index", err)
		}
		sizes = append(sizes, uint32(n))
	}
	if info.Dimensions == 0 {
		info = index.VectorsInfo{Missing: len(sizes)}
	}
	r.schema, r.dimensions, r.size = schemaOf(id), info.Dimensions, len(sizes)
	files, imports, err := r.files(ctx)
	if err != nil {
		return nil, err
	}
	var report index.Report
	if reported {
		if report, err = r.report(ctx); err != nil {
			return nil, err
		}
	}
	return index.NewSource(files, sizes, func() [][]int { return imports },
		func() index.VectorsInfo { return info }, r).WithReport(report), nil
}

// report is what was said when the index was made.
func (r *rows) report(ctx context.Context) (report index.Report, err error) {
	var text []byte
	err = r.ask(ctx, "reading the index", `SELECT json FROM INDEX.report`, nil, []any{&text}, func() error {
		return json.Unmarshal(text, &report)
	})
	return report, err
}

func (r *rows) files(ctx context.Context) (files []index.File, imports [][]int, err error) {
	var path []byte
	var f index.File
	var to []int
	err = r.ask(ctx, "reading the index", `SELECT path, first, next, imports FROM INDEX.file ORDER BY n`, nil,
		[]any{&path, &f.First, &f.Next, &to}, func() error {
			f.Path = string(path)
			files, imports, to = append(files, f), append(imports, to), nil
			return nil
		})
	return files, imports, err
}

// model is the model of a key, of which a server without pgvector knows none.
func (s *Store) model(k index.Key) string {
	if !s.vectors {
		return ""
	}
	return k.Model
}

func schemaOf(id int64) string { return fmt.Sprintf("pr_review_index_%d", id) }

// Error is what a person reads when the database cannot be used. It holds no password.
type Error struct {
	what string
	err  error
	next string
}

// Error is one line.
func (e *Error) Error() string {
	if e.err == nil {
		return e.what
	}
	return e.what + ": " + e.err.Error()
}

// Unwrap is what was wrong.
func (e *Error) Unwrap() error { return e.err }

// Next says what to do about it.
func (e *Error) Next() string { return e.next }

// explain names the database and what was being done, and drops what pgx says of the
// connection's settings.
func (s *Store) explain(doing string, err error) error {
	var answer *pgconn.PgError
	var connecting *pgconn.ConnectError
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &answer):
		err = answer
	case errors.As(err, &connecting):
		err = errors.New(strings.Join(strings.Fields(connecting.Unwrap().Error()), " "))
	}
	return &Error{fmt.Sprintf("Postgres index %s, %s", s.where, doing), err,
		"see that the server runs and can be reached; without it the index is built in memory"}
}
