// Package pgstore keeps threads in a Postgres database: for each the graph's
// snapshot and the journal of the tasks finished since, in the schema
// pr_review, which it makes and brings up to date itself.
//
// It knows nothing of what snapshots and records hold, and it never shows a
// password. What is written while a thread's lock is held goes through the
// session that holds it, so that no run writes on behind a lost lock. Start
// reading at Store; append.go has the group commit, lock.go the lock.
package pgstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/org/pr-review-action/internal/graph"
)

// patience bounds one write. A write that was begun is not cancelled: nobody
// would know whether it is kept, and the lock's session would be gone.
const patience = 2 * time.Minute

// Store is a graph.Store over a Postgres database, version 13 or later. Its
// methods may be called from several goroutines. Close it when no more is written.
type Store struct {
	pool  *pgxpool.Pool
	where string

	mu     sync.Mutex
	held   map[string]*holding // by thread: the locks this store has
	queues map[string]*queue   // by thread: the records on their way
}

var _ graph.Store = (*Store)(nil)

// Open connects to the database that a URL names, as in
// postgres://user@host:5432/database?sslmode=verify-full, and brings its schema
// up to date. What the URL leaves out comes from PGPASSWORD and the other PG*
// variables, ~/.pgpass and the defaults of libpq, as pgx reads them: without an
// sslmode it is "prefer", which takes TLS where it is offered but does not check
// the server's certificate; "verify-full" does. The error is an *Error.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil { // its text may quote the URL, the password included
		return nil, &Error{err: ErrAddress, next: "write it as postgres://USER@HOST:5432/DATABASE, special " +
			"characters as %XX; the password can be in PGPASSWORD or ~/.pgpass"}
	}
	c := config.ConnConfig
	s := &Store{
		where: net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database,
		held:  map[string]*holding{}, queues: map[string]*queue{},
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = process()
	}
	config.AfterConnect = settle
	// the server may have been restarted
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return true }
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.explain("connecting", err)
	}
	if err := s.migrate(ctx); err != nil {
		s.pool.Close()
		return nil, s.explain("opening", err)
	}
	return s, nil
}

// process names this process to those who find a thread locked.
func process() string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed host"
	}
	return fmt.Sprintf("pr-review-action pid %d on %s", os.Getpid(), host)
}

// settle makes a session durable whatever the server's default is, alive
// through a long wait, and noticed by the server when its client's machine has
// died. Settings that the server does not know are left out.
func settle(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `SELECT set_config(s.name, v.value, false) FROM pg_settings s JOIN (VALUES
		('synchronous_commit', 'on'), ('idle_session_timeout', '0'),
		('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '3')) v (name,
		value) USING (name)
		WHERE s.name <> 'synchronous_commit' OR s.setting = 'off'`)
	return err
}

// Where names the host and the database, without user and password.
func (s *Store) Where() string { return s.where }

// Load reads a thread's snapshot and journal as they stood at one moment.
func (s *Store) Load(ctx context.Context, thread string) (saved graph.Saved, err error) {
	rows, err := s.pool.Query(ctx, `
		SELECT 0 AS seq, snapshot FROM pr_review.thread WHERE id = $1
		UNION ALL
		SELECT r.seq, r.data FROM pr_review.record r JOIN pr_review.thread t ON t.number = r.thread WHERE t.id = $1
		ORDER BY seq`, thread)
	if err != nil {
		return graph.Saved{}, s.explain("reading", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (data []byte, err error) {
		return data, row.Scan(nil, &data)
	})
	switch {
	case err != nil:
		return graph.Saved{}, s.explain("reading", err)
	case len(all) == 0:
		return graph.Saved{}, s.noThread(thread)
	case len(all) > 1:
		saved.Journal = all[1:]
	}
	saved.Snapshot = all[0]
	return saved, nil
}

func (s *Store) noThread(thread string) error {
	return fmt.Errorf("%w: %q in %s", graph.ErrNoThread, thread, s.where)
}

// Save replaces a thread's snapshot and drops its journal, both or neither.
func (s *Store) Save(ctx context.Context, thread string, snapshot []byte) error {
	if snapshot == nil {
		snapshot = []byte{} // nil would be NULL
	}
	_, err := s.write(ctx, "saving", thread, `
		WITH dropped AS (DELETE FROM pr_review.record r USING pr_review.thread t WHERE t.number = r.thread AND t.id =
		$1)
		INSERT INTO pr_review.thread AS t (id, snapshot) SELECT $1, $3 WHERE pr_review.held($2)
		ON CONFLICT (id) DO UPDATE SET snapshot = excluded.snapshot, saved = now()`, snapshot)
	return err
}

// Remove forgets a thread. One that is not there is no error.
func (s *Store) Remove(ctx context.Context, thread string) error {
	_, err := s.write(ctx, "removing", thread, `DELETE FROM pr_review.thread WHERE id = $1 AND pr_review.held($2)`)
	return err
}

// Threads lists the ids of the saved threads, sorted.
func (s *Store) Threads(ctx context.Context) ([]string, error) {
	rows, err := s.pool.Query(ctx, `SELECT id FROM pr_review.thread ORDER BY id COLLATE "C"`)
	if err != nil {
		return nil, s.explain("listing", err)
	}
	threads, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return threads, s.explain("listing", err)
}

// write runs a statement on a thread, $1, to its end: in the session that holds
// its lock where this store does, $2 being that lock's token, else in any.
func (s *Store) write(ctx context.Context, doing, thread, sql string, args ...any) (rows int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	s.mu.Lock()
	h := s.held[thread]
	s.mu.Unlock()
	if h != nil {
		rows, err = h.write(ctx, sql, append([]any{thread, h.token}, args...))
	} else {
		tag, failed := s.pool.Exec(ctx, sql, append([]any{thread, ""}, args...)...)
		rows, err = tag.RowsAffected(), failed
	}
	return rows, s.explain(doing, err)
}

// Close ends the connections, and with them the locks that are still held.
func (s *Store) Close() error {
	s.mu.Lock()
	held := s.held
	s.held = map[string]*holding{}
	s.mu.Unlock()
	var errs []error
	for _, h := range held {
		errs = append(errs, h.release())
	}
	s.pool.Close()
	return errors.Join(errs...)
}
