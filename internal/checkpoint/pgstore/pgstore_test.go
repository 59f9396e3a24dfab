package pgstore

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/storetest"
)

func TestG26_Postgres(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Place {
		url := database(t)
		return storetest.Place{
			Store:  open(t, url),
			Reopen: func(t *testing.T, _ string) graph.Store { return open(t, url) },
			Shared: true,
		}
	})
}

func TestG20_ManyAppendsShareCommits(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url)
	require.NoError(t, s.Save(t.Context(), thread, nil))
	release, err := s.Lock(t.Context(), thread)
	require.NoError(t, err)
	const writers, each = 8, 125
	record := strings.Repeat("finding ", 250)
	var group sync.WaitGroup
	began := time.Now()
	for w := range writers {
		group.Go(func() {
			for i := range each {
				if err := s.Append(t.Context(), thread, fmt.Appendf(nil, "%d %03d %s", w, i, record)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	t.Logf("%d appends of 2 kB from %d goroutines: %s", writers*each, writers, time.Since(began))
	require.NoError(t, release())
	var commits, records int
	require.NoError(t, s.pool.QueryRow(t.Context(),
		"SELECT count(DISTINCT xmin::text), count(*) FROM pr_review.record").Scan(&commits, &records))
	t.Logf("in %d commits", commits)
	require.Equal(t, writers*each, records)
	require.Less(t, commits, records/2)
	_, journal := load(t, open(t, url))
	for w := range writers {
		own := slices.DeleteFunc(slices.Clone(journal), func(r string) bool { return r[0] != byte('0'+w) })
		require.Len(t, own, each)
		require.IsIncreasing(t, own)
	}
}

func TestACommitGathersNoMoreThanItsBound(t *testing.T) {
	t.Parallel()
	s := &Store{queues: map[string]*queue{}}
	half := make([]byte, maxCommit/2)
	_, one, first := s.joinCommit("t", half)
	require.True(t, first)
	_, same, first := s.joinCommit("t", half)
	require.False(t, first)
	require.Same(t, one, same)
	_, two, first := s.joinCommit("t", []byte("more"))
	require.True(t, first)
	require.NotSame(t, one, two)
	_, _, first = s.joinCommit("u", nil)
	require.True(t, first, "another thread's")
}

func TestMigrationsRunOnceAlsoWhenManyOpenAtOneTime(t *testing.T) {
	t.Parallel()
	url := database(t)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			s, err := Open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	files, err := fs.Glob(migrations, "migration/*.sql")
	require.NoError(t, err)
	for i, f := range files {
		require.Contains(t, f, fmt.Sprintf("/%04d_", i+1), "a file's number is the version it makes")
	}
	var applied int
	require.NoError(t, open(t, url).pool.QueryRow(t.Context(),
		"SELECT count(*) FROM pr_review.migration").Scan(&applied))
	require.Equal(t, len(files), applied)
}

func TestANewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	url := database(t)
	open(t, url)
	server.Exec(t, url, "INSERT INTO pr_review.migration (version) VALUES (99)")
	_, err := Open(t.Context(), url)
	require.ErrorContains(t, err, "its schema pr_review has version 99, this program knows version 1")
	require.Contains(t, next(t, err), "newer version of this program")
	server.Exec(t, url, "DELETE FROM pr_review.migration WHERE version = 99")
	open(t, url)
}

func TestARoleWithoutCreateUsesASchemaThatIsThere(t *testing.T) {
	t.Parallel()
	url := database(t)
	server.Exec(t, url, "CREATE ROLE reviewer LOGIN")
	as := strings.Replace(url, "postgres@", "reviewer@", 1)
	_, err := Open(t.Context(), as)
	require.ErrorContains(t, err, "permission denied")
	require.Contains(t, next(t, err), "CREATE on the database")
	open(t, url)
	server.Exec(t, url, "GRANT USAGE ON SCHEMA pr_review TO reviewer; GRANT SELECT ON pr_review.migration TO "+
		"reviewer; GRANT SELECT, INSERT, UPDATE, DELETE ON pr_review.thread, pr_review.record TO reviewer")
	s := open(t, as)
	require.NoError(t, s.Save(t.Context(), thread, []byte("one")))
	require.NoError(t, s.Append(t.Context(), thread, []byte("r1")))
	release, err := open(t, url).Lock(t.Context(), thread)
	require.NoError(t, err)
	_, err = s.Lock(t.Context(), thread)
	require.ErrorIs(t, err, graph.ErrBusy, "also where the holder's session is another role's")
	require.ErrorContains(t, err, processName())
	require.NoError(t, release())
}

func TestASessionIsDurableAndStaysWhateverTheServersDefaults(t *testing.T) {
	t.Parallel()
	url := database(t)
	server.Exec(t, url, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$;
		DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET idle_session_timeout = 1000', current_database()); END $$`)
	s := open(t, url)
	_, err := s.Lock(t.Context(), thread)
	require.NoError(t, err)
	for _, q := range []querier{s.pool, s.held[thread].conn} {
		var commit, idle string
		require.NoError(t, q.QueryRow(t.Context(),
			"SELECT current_setting('synchronous_commit'), current_setting('idle_session_timeout')").Scan(&commit,
			&idle))
		require.Equal(t, []string{"on", "0"}, []string{commit, idle})
	}
}
