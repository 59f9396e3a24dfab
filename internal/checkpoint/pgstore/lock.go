package pgstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/org/pr-review-action/internal/graph"
)

// ErrLost reports a write under a lock that is no longer held: its session has
// ended, or another one answered in its place. Another run may have the thread.
var ErrLost = errors.New("the thread's lock was lost")

// lostCodes are the SQLSTATEs that show that a session is not the one that took
// the lock: the one raised by the schema's function held(), and those of a
// statement prepared in the other session but unknown in this one, or the reverse.
var lostCodes = []string{"PRL01", "26000", "42P05"}

// releaseWithin bounds the release of a lock if the server does not respond.
const releaseWithin = 5 * time.Second

// heldLock is a held lock: a session, which the server ends with the connection,
// and a token known only to this session.
type heldLock struct {
	mu    sync.Mutex // a connection runs one statement at a time
	conn  *pgx.Conn
	token string
	key   int64
	ctx   context.Context // the caller's, without cancellation
}

// Lock takes the advisory lock of a thread on its own connection. If the lock
// is held, the error is graph.ErrBusy and names the holder. It needs a dedicated
// session: behind a pooler that shares sessions, writes fail with ErrLost.
func (s *Store) Lock(ctx context.Context, thread string) (release func() error, err error) {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return nil, s.explain("locking", err)
	}
	h := &heldLock{conn: conn, token: rand.Text(), key: lockKey(thread), ctx: context.WithoutCancel(ctx)}
	got, err := h.take(ctx)
	if err == nil && !got {
		err = h.busyError(ctx, thread)
	}
	if err != nil {
		return nil, errors.Join(s.explain("locking", err), h.release())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[thread] = h
	return func() error { return s.release(thread, h) }, nil
}

// lockKey returns a thread's key among the advisory locks of the database, which
// other programs use too.
func lockKey(thread string) int64 {
	sum := sha256.Sum256([]byte("pr_review thread " + thread))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// take sets the token in the same statement that locks, so that both affect the same session.
func (h *heldLock) take(ctx context.Context) (got bool, err error) {
	if err := configureSession(ctx, h.conn); err != nil {
		return false, err
	}
	const sql = `SELECT CASE WHEN pg_try_advisory_lock($1) THEN set_config('pr_review.holder', $2, false) <> '' ELSE` +
		` false END`
	return got, h.conn.QueryRow(ctx, sql, h.key, h.token).Scan(&got)
}

// busyError returns an ErrBusy that names the lock's holder. A role that may not see
// the holder's session in full gets its process and application.
func (h *heldLock) busyError(ctx context.Context, thread string) error {
	var who string
	err := h.conn.QueryRow(ctx, `
		SELECT a.application_name || coalesce(' from ' || host(a.client_addr), '')
			|| coalesce(to_char(a.backend_start AT TIME ZONE 'UTC', '", since "YYYY-MM-DD HH24:MI:SS" UTC"'), '')
			|| ' (server process ' || a.pid || ')'
		FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND (l.classid::bigint << 32 |
		l.objid::bigint) = $1
			AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`, h.key).Scan(&who)
	if errors.Is(err, pgx.ErrNoRows) {
		who, err = "a process that has just ended (server process 0)", nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %q, by %s", graph.ErrBusy, thread, who)
}

// write runs a statement in the lock's session.
func (h *heldLock) write(ctx context.Context, sql string, args []any) (rows int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn.IsClosed() {
		return 0, ErrLost
	}
	tag, err := h.conn.Exec(ctx, sql, args...)
	var answer *pgconn.PgError
	if err != nil && (h.conn.IsClosed() || errors.As(err, &answer) && slices.Contains(lostCodes, answer.Code)) {
		err = fmt.Errorf("%w: %w", ErrLost, err)
	}
	return tag.RowsAffected(), err
}

func (s *Store) release(thread string, h *heldLock) error {
	s.mu.Lock()
	if s.held[thread] == h {
		delete(s.held, thread)
	}
	s.mu.Unlock()
	return s.explain("unlocking", h.release())
}

// release unlocks before it closes, because a server ends a session some time
// after its connection. A lock with a closed connection is already released.
func (h *heldLock) release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(h.ctx, releaseWithin)
	defer cancel()
	_, err := h.conn.Exec(ctx, `SELECT pg_advisory_unlock_all()`)
	if h.conn.IsClosed() {
		return nil
	}
	return errors.Join(err, h.conn.Close(ctx))
}
