package pgstore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

func TestG25_TheSecondIsToldWhoHoldsTheThread(t *testing.T) {
	t.Parallel()
	url := database(t)
	s, other := open(t, url), open(t, url)
	release, err := s.Lock(t.Context(), thread)
	require.NoError(t, err)
	_, err = other.Lock(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrBusy)
	require.ErrorContains(t, err, fmt.Sprintf("%q, by pr-review-action pid %d on ", thread, os.Getpid()))
	require.Regexp(t, `, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(server process \d+\)$`, err.Error())
	t.Log(err)
	require.NoError(t, release())
	require.NoError(t, release(), "twice is no harm")
	for i := range 50 {
		release, err = []*Store{other, s}[i%2].Lock(t.Context(), thread)
		require.NoError(t, err, "what is released is free at once")
		require.NoError(t, release())
	}
}

// end makes the server end the session that holds the thread, as a broken
// connection does.
func end(t *testing.T, url string, h *heldLock) {
	server.Exec(t, url, fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", h.conn.PgConn().PID()))
}

func TestG25_ARunWhoseLockIsLostWritesNothingMore(t *testing.T) {
	t.Parallel()
	url := database(t)
	s, other := open(t, url), open(t, url)
	release, err := s.Lock(t.Context(), thread)
	require.NoError(t, err)
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	require.NoError(t, s.Append(t.Context(), thread, []byte("r1")))
	end(t, url, s.held[thread])

	otherRelease, err := other.Lock(t.Context(), thread)
	require.NoError(t, err, "a lock without its connection is free")
	for range 2 {
		require.ErrorIs(t, s.Append(t.Context(), thread, []byte("stale")), ErrLost)
		require.ErrorIs(t, s.Save(t.Context(), thread, []byte("stale")), ErrLost)
		require.ErrorIs(t, s.Remove(t.Context(), thread), ErrLost)
	}
	require.NoError(t, other.Append(t.Context(), thread, []byte("r2")))
	snapshot, journal := load(t, s)
	require.Equal(t, "one", snapshot)
	require.Equal(t, []string{"r1", "r2"}, journal)
	require.NoError(t, release(), "what is gone is released")
	_, err = s.Lock(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrBusy, "a stale release gives nobody else's lock away")
	require.NoError(t, otherRelease())
	newer, err := s.Lock(t.Context(), thread)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), thread, []byte("r3")))
	require.NoError(t, release())
	end(t, url, s.held[thread])
	require.ErrorIs(t, s.Append(t.Context(), thread, []byte("stale")), ErrLost,
		"a stale release leaves a newer lock in force")
	require.NoError(t, newer())
}

// Behind a pooler that shares sessions, what a holder writes may run in a
// session that another one locked in since, or in one without any lock.
func TestG25_ASessionThatAnotherTookOverRefusesTheHolder(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	release, err := s.Lock(t.Context(), thread)
	require.NoError(t, err)
	for _, statement := range []string{"SELECT set_config('pr_review.holder', 'another', false)", "RESET ALL",
		"DISCARD ALL"} {
		_, err = s.held[thread].conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
		for name, write := range map[string]func() error{
			"append": func() error { return s.Append(t.Context(), thread, []byte("stale")) },
			"save":   func() error { return s.Save(t.Context(), thread, []byte("stale")) },
			"remove": func() error { return s.Remove(t.Context(), thread) },
		} {
			err := write()
			require.ErrorIs(t, err, ErrLost, name)
			require.Contains(t, next(t, err), "session mode")
		}
	}
	require.NoError(t, release())
	snapshot, journal := load(t, s)
	require.Equal(t, "one", snapshot)
	require.Empty(t, journal)
}

func TestG10_AWriteUnderWayWhenTheRunIsCancelledIsDoneAndTheLockKept(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	release, err := s.Lock(ctx, thread)
	require.NoError(t, err)
	beside, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = beside.Exec(t.Context(), "LOCK TABLE pr_review.thread")
	require.NoError(t, err)
	saved := make(chan error)
	go func() { saved <- s.Save(ctx, thread, []byte("zero")) }()
	for waiting := false; !waiting; {
		const sql = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'pr_review.thread'::regclass)"
		require.NoError(t, beside.QueryRow(t.Context(), sql).Scan(&waiting))
	}
	cancel()
	require.NoError(t, beside.Rollback(t.Context()))
	require.NoError(t, <-saved)
	require.ErrorIs(t, s.Save(ctx, thread, nil), context.Canceled)
	require.NoError(t, s.Save(context.WithoutCancel(ctx), thread, []byte("one")), "what was paid for is kept")
	require.NoError(t, release())
	again, err := open(t, url).Lock(t.Context(), thread)
	require.NoError(t, err)
	require.NoError(t, again())
}

// storm is the child process: it locks the thread and appends from eight
// goroutines until it is killed, printing what was acknowledged.
func storm(ctx context.Context, url string) error {
	s, err := Open(ctx, url)
	if err != nil {
		return err
	}
	if _, err := s.Lock(ctx, thread); err != nil {
		return err
	}
	if err := s.Save(ctx, thread, []byte("one")); err != nil {
		return err
	}
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for i := 0; err == nil; i++ {
				record := fmt.Sprintf("%d-%d", w, i)
				if s.Append(ctx, thread, []byte(record)) != nil {
					return
				}
				_, _ = os.Stdout.WriteString(record + "\n") // one write, so that no line is torn
			}
		})
	}
	group.Wait()
	return err
}

func TestG20_G25_AfterKill9InAnAppendStormAnotherProcessGoesOn(t *testing.T) {
	t.Parallel()
	url := database(t)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childURL+"="+url)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	lines := bufio.NewReader(out)
	var acknowledged []string
	for len(acknowledged) < 500 {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		acknowledged = append(acknowledged, strings.TrimSpace(line))
	}
	s := open(t, url)
	_, err = s.Lock(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrBusy)
	require.ErrorContains(t, err, fmt.Sprintf("pid %d on", child.Process.Pid))
	require.NoError(t, child.Process.Kill())
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.Error(t, child.Wait())
	acknowledged = append(acknowledged, strings.Fields(string(rest))...)

	killed := time.Now()
	// waits for the server to notice
	_, err = s.pool.Exec(t.Context(), "SELECT pg_advisory_xact_lock($1)", lockKey(thread))
	require.NoError(t, err)
	t.Logf("%d records acknowledged; the lock was free %s after the kill", len(acknowledged), time.Since(killed))
	release, err := s.Lock(t.Context(), thread)
	require.NoError(t, err)
	_, journal := load(t, s)
	require.Subset(t, journal, acknowledged)
	require.LessOrEqual(t, len(journal)-len(acknowledged), 8, "beside them only what was under way")
	require.NoError(t, s.Append(t.Context(), thread, []byte("next")))
	_, again := load(t, s)
	require.Equal(t, append(journal, "next"), again)
	require.NoError(t, release())
}
