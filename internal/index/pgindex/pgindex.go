// Package pgindex keeps the indexes of base commits in a Postgres database and answers
// questions about them there, for teams that share one: words by the counts that
// index.Index has, vectors by pgvector's HNSW where the server has that extension.
//
// Each index has a schema of its own, written in one transaction and never changed, so
// that a half-written one is not there and an old one goes at once. It is never given
// the index of a change, and shows no password. Start reading at Store.
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

// Store is a database. It may be used from many goroutines.
type Store struct {
	pool    *pgxpool.Pool
	where   string // host and database, without user and password
	vectors bool   // the server has pgvector
}

const (
	connectTime = 10 * time.Second
	queryTime   = 15 * time.Second
	writeTime   = 10 * time.Minute
	connections = 4

	efSearch = "100" // of HNSW: its default of 40 loses some of the 40 nearest
)

// Open connects to the database that a URL names, with a password where the URL and
// libpq's own variables have none, and makes what it needs there. No error shows the password.
func Open(ctx context.Context, url, password string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil { // its text may quote the URL
		return nil, problem.New("index.store is not the address of a Postgres database", "",
			"write it as postgres://USER@HOST:5432/DATABASE, special characters as %XX")
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
	_, err := s.pool.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('pr_review_indexes'));
		CREATE SCHEMA IF NOT EXISTS pr_review_indexes;
		CREATE TABLE IF NOT EXISTS pr_review_indexes.list (
			id bigserial PRIMARY KEY, repository text NOT NULL, commit text NOT NULL, made text NOT NULL,
			model text NOT NULL, head bytea NOT NULL, report bytea NOT NULL,
			used timestamptz NOT NULL DEFAULT now(), UNIQUE (repository, commit, made, model))`,
		pgx.QueryExecModeSimpleProtocol) // which makes one transaction of them
	if err != nil {
		return err
	}
	// without the right to do so the extension is there already, or it is not used
	_, _ = s.pool.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS vector`)
	return s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')`).Scan(&s.vectors)
}

// Vectors reports whether the server can search vectors.
func (s *Store) Vectors() bool { return s.vectors }

// Close ends the connections.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// Find opens the index of a key, and says what was said of its making; nil where the
// database has none.
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

// columns are a key's. Of models a server without pgvector knows none.
func (s *Store) columns(k index.Key) []any {
	if !s.vectors {
		k.Model = ""
	}
	return []any{k.Repository, k.Commit, index.Format + " " + k.Made, k.Model}
}

func schemaOf(id int64) string { return fmt.Sprintf("pr_review_indexes_%d", id) }

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
	return problem.As(problem.Failed, fmt.Errorf("the Postgres index %s, %s: %w", s.where, doing, err),
		"see that the server runs and can be reached; without it the index is built in memory")
}
