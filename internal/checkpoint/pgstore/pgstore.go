// Package pgstore keeps threads in a Postgres database: for each, the graph's
// snapshot and the journal of the tasks finished since. It creates and migrates
// its schema, pr_review, itself.
//
// It knows nothing about the contents of snapshots and records, and never shows a
// password. Writes under a thread's lock go through the session that holds the
// lock, so that no run can write after it lost the lock. Start reading at Store;
// append.go has the group commit, lock.go the lock.
package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/org/pr-review-action/internal/graph"
)

// writeTimeout bounds one write. A started write is not cancelled: it would be
// unknown whether it is kept, and the lock's session would be gone.
const writeTimeout = 2 * time.Minute

// Store is a graph.Store over a Postgres database, version 13 or later. Its
// methods may be called concurrently. Close it after the last write.
type Store struct {
	pool  *pgxpool.Pool
	where string

	mu     sync.Mutex
	held   map[string]*heldLock // locks held by this store, by thread
	queues map[string]*queue    // records waiting to be committed, by thread
}

var _ graph.Store = (*Store)(nil)

// Open connects to the database in a URL such as
// postgres://user@host:5432/database?sslmode=verify-full, and brings its schema
// up to date. Parts missing from the URL come from PGPASSWORD and the other PG*
// variables, ~/.pgpass and the defaults of libpq, as read by pgx. Without an
// sslmode it is "prefer", which uses TLS if offered but does not verify the
// server's certificate; "verify-full" does. The error is an *Error.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil { // its text may quote the URL, including the password
		return nil, &Error{err: ErrAddress, next: "write it as postgres://USER@HOST:5432/DATABASE, special " +
			"characters as %XX; the password can be in PGPASSWORD or ~/.pgpass"}
	}
	c := config.ConnConfig
	s := &Store{
		where: net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database,
		held:  map[string]*heldLock{}, queues: map[string]*queue{},
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = processName()
	}
	config.AfterConnect = configureSession
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

// processName returns a name of this process for those who find a thread locked.
func processName() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("pr-review-action pid %d on %s", os.Getpid(), cmp.Or(host, "an unnamed host"))
}

// configureSession makes a session's commits durable whatever the server's default, keeps
// it alive through a long wait, and lets the server notice when the client's
// machine has died. It skips settings that the server does not know.
func configureSession(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `SELECT set_config(s.name, v.value, false) FROM pg_settings s JOIN (VALUES
		('synchronous_commit', 'on'), ('idle_session_timeout', '0'),
		('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '3')) v (name,
		value) USING (name)
		WHERE s.name <> 'synchronous_commit' OR s.setting = 'off'`)
	return err
}

// Where returns the host and the database, without user and password.
func (s *Store) Where() string { return s.where }

// Load reads a thread's snapshot and journal as of a single moment.
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
func (s *Store) Save(ctx context.Context, thread string, snapshot ...[]byte) error {
	whole := slices.Concat(snapshot...)
	if whole == nil {
		whole = []byte{} // nil would be NULL
	}
	_, err := s.write(ctx, "saving", thread, `
		WITH dropped AS (DELETE FROM pr_review.record r USING pr_review.thread t WHERE t.number = r.thread AND t.id =
		$1)
		INSERT INTO pr_review.thread AS t (id, snapshot) SELECT $1, $3 WHERE pr_review.held($2)
		ON CONFLICT (id) DO UPDATE SET snapshot = excluded.snapshot, saved = now()`, whole)
	return err
}

// Remove deletes a thread. Removing a thread that does not exist is not an error.
func (s *Store) Remove(ctx context.Context, thread string) error {
	_, err := s.write(ctx, "removing", thread, `DELETE FROM pr_review.thread WHERE id = $1 AND pr_review.held($2)`)
	return err
}

// Threads returns the ids of the saved threads, sorted.
func (s *Store) Threads(ctx context.Context) ([]string, error) {
	rows, err := s.pool.Query(ctx, `SELECT id FROM pr_review.thread ORDER BY id COLLATE "C"`)
	if err != nil {
		return nil, s.explain("listing", err)
	}
	threads, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return threads, s.explain("listing", err)
}

// write runs a statement on a thread, $1, without cancelling it. If this store holds the
// thread's lock, it uses the lock's session and passes its token as $2, otherwise any session.
func (s *Store) write(ctx context.Context, doing, thread, sql string, args ...any) (rows int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
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

// Close closes the connections and releases the locks that are still held.
func (s *Store) Close() error {
	s.mu.Lock()
	held := s.held
	s.held = map[string]*heldLock{}
	s.mu.Unlock()
	var errs []error
	for _, h := range held {
		errs = append(errs, h.release())
	}
	s.pool.Close()
	return errors.Join(errs...)
}
