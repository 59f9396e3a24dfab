package pgstore

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/pgtest"
)

func TestAServerStopsAndStartsWithWhatItHad(t *testing.T) {
	if server == nil {
		t.Skip(pgtest.ErrNone)
	}
	s := server
	url := s.Database(t)
	require.NotEqual(t, url, s.Database(t))
	s.Exec(t, url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
	for _, mode := range []string{"fast", "immediate"} {
		require.NoError(t, s.Stop(mode))
		_, err := pgx.Connect(t.Context(), url)
		require.Error(t, err)
		require.NoError(t, s.StartAgain())
		c, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		var n int
		var fsync string
		require.NoError(t, c.QueryRow(t.Context(), "SELECT n, current_setting('fsync') FROM kept").Scan(&n, &fsync))
		require.Equal(t, 7, n)
		require.Equal(t, "on", fsync)
		require.NoError(t, c.Close(t.Context()))
	}
}
