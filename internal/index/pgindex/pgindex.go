// Package pgindex stores the indexes of base commits in a Postgres database that a team
// shares, and reads them from there. Words are found by the same counts as in an
// index.Index, vectors by pgvector's HNSW if the server has that extension.
//
// Each index has its own schema, written in one transaction and never changed, so a
// half-written one does not exist and an old one is dropped at once. Indexes of changes
// are never stored, and no error shows the password. Start reading at Store.
package pgindex

import (
	"context"
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
	"github.com/org/pr-review-action/internal/problem"
)

// Store is a database of indexes. It may be used from many goroutines.
type Store struct {
	pool    *pgxpool.Pool
	where   string // host and database, without user and password
	vectors bool   // the server has pgvector, 0.7 or later
}

const (
	connectTime = 10 * time.Second
	queryTime   = 15 * time.Second
	writeTime   = 10 * time.Minute
	connections = 4

	efSearch = "100" // for HNSW: its default of 40 misses some of the 40 nearest
)

// Open connects to the database that a URL names, and creates what it needs there. A password
// that is not empty replaces the URL's and that of libpq's variables. No error shows it.
func Open(ctx context.Context, url, password string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil { // which may quote the URL
		return nil, problem.New("index.store is not the address of a Postgres database", "",
			"write it as postgres://USER@HOST:5432/DATABASE, special characters as %XX")
	}
	c := config.ConnConfig
	if password != "" {
		c.Password = password
	}
	c.ConnectTimeout, config.MaxConns = connectTime, connections
	// unnamed statements: behind a pooler, and in PGlite, clients share sessions
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

// prepare creates the list of indexes. The lock is for processes that do so at the same time.
func (s *Store) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*connectTime)
	defer cancel()
	_, err := s.pool.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('pr_review_indexes'));
		CREATE SCHEMA IF NOT EXISTS pr_review_indexes;
		CREATE TABLE IF NOT EXISTS pr_review_indexes.list (
			id bigserial PRIMARY KEY, repository text NOT NULL, commit text NOT NULL, made text NOT NULL,
			model text NOT NULL, head bytea NOT NULL, report bytea NOT NULL,
			used timestamptz NOT NULL DEFAULT now(), UNIQUE (repository, commit, made, model))`,
		pgx.QueryExecModeSimpleProtocol) // runs all in one transaction
	if err != nil {
		return err
	}
	// if this user may not create the extension, it exists already or is not used
	_, _ = s.pool.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS vector`)
	return s.pool.QueryRow(ctx, `SELECT to_regtype('halfvec') IS NOT NULL`).Scan(&s.vectors)
}

// Vectors reports whether the server can search vectors.
func (s *Store) Vectors() bool { return s.vectors }

// Close ends the connections.
func (s *Store) Close() { s.pool.Close() }

// Find opens the index of a key, and returns the report of its build. x is nil if the
// database has none. It marks the index as used.
func (s *Store) Find(ctx context.Context, k index.Key) (x *index.Source, made index.Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	var id int64
	var head, report []byte
	err = s.pool.QueryRow(ctx, `UPDATE pr_review_indexes.list SET used = now()
		WHERE repository = $1 AND commit = $2 AND made = $3 AND model = $4 RETURNING id, head, report`,
		s.columns(k)...).Scan(&id, &head, &report)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, made, nil
	}
	if err == nil {
		err = json.Unmarshal(report, &made)
	}
	if err == nil {
		x, err = index.Open(head, &rows{store: s, schema: schemaOf(id)})
	}
	return x, made, s.explain("looking for the index", err)
}

// columns returns the column values of a key. Without pgvector the model is empty.
func (s *Store) columns(k index.Key) []any {
	if !s.vectors {
		k.Model = ""
	}
	return []any{k.Repository, k.Commit, index.Format + " " + k.Made, k.Model}
}

func schemaOf(id int64) string { return fmt.Sprintf("pr_review_indexes_%d", id) }

// explain adds the database and the failed operation to an error, and drops the connection
// settings that pgx puts into it.
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
	return problem.As(problem.Failed, fmt.Errorf("the Postgres index %s, %s: %w", s.where, doing, err),
		"see that the server runs and can be reached; without it the index is built in memory")
}
