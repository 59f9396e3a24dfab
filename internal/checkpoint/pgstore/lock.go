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

// ErrLost is a write under a lock that is no longer held: its session is gone,
// or another one answers in its place. Another run may have the thread.
var ErrLost = errors.New("the thread's lock was lost")

// lostCodes are the SQLSTATEs by which a session shows that it is not the one
// that took the lock: what the schema's function held() raises, a statement that
// was prepared in that session and is unknown in this one, or the reverse.
var lostCodes = []string{"PRL01", "26000", "42P05"}

// releaseWithin bounds the giving back of a lock on a server that is silent.
const releaseWithin = 5 * time.Second

// holding is a lock that is held: a session, which the server ends with the
// connection, and a token that only this session knows.
type holding struct {
	mu    sync.Mutex // a connection serves one at a time
	conn  *pgx.Conn
	token string
	key   int64
	ctx   context.Context // of who took it, never cancelled
}

// Lock takes the advisory lock of a thread on a connection of its own. The error
// is graph.ErrBusy, saying who holds it, where somebody does. It needs a session
// that stays: behind a pooler that shares sessions writes are refused as ErrLost.
func (s *Store) Lock(ctx context.Context, thread string) (release func() error, err error) {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return nil, s.explain("locking", err)
	}
	h := &holding{conn: conn, token: rand.Text(), key: lockKey(thread), ctx: context.WithoutCancel(ctx)}
	got, err := h.take(ctx)
	if err == nil && !got {
		err = h.busy(ctx, thread)
	}
	if err != nil {
		return nil, errors.Join(s.explain("locking", err), h.release())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[thread] = h
	return func() error { return s.release(thread, h) }, nil
}

// lockKey is a thread's key among the advisory locks of the database, which
// other programs use too.
func lockKey(thread string) int64 {
	sum := sha256.Sum256([]byte("pr_review thread " + thread))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// take sets the token in the statement that locks, so that both meet the same session.
func (h *holding) take(ctx context.Context) (got bool, err error) {
	if err := settle(ctx, h.conn); err != nil {
		return false, err
	}
	const sql = `SELECT CASE WHEN pg_try_advisory_lock($1) THEN set_config('pr_review.holder', $2, false) <> '' ELSE` +
		` false END`
	return got, h.conn.QueryRow(ctx, sql, h.key, h.token).Scan(&got)
}

// busy says who holds the lock. A role that may not see the holder's session in
// full is told its process and application.
func (h *holding) busy(ctx context.Context, thread string) error {
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
func (h *holding) write(ctx context.Context, sql string, args []any) (rows int64, err error) {
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

func (s *Store) release(thread string, h *holding) error {
	s.mu.Lock()
	if s.held[thread] == h {
		delete(s.held, thread)
	}
	s.mu.Unlock()
	return s.explain("unlocking", h.release())
}

// release unlocks before it closes: a server ends a session some time after its
// connection. A lock whose connection is gone is released already.
func (h *holding) release() error {
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
