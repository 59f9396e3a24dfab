package pgstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/org/pr-review-action/internal/pgtest"
)

const thread = "org/payments#42@docs:0123456789abcdef0123456789abcdef01234567"

// server is the one server of all tests. It is set once, before they run, and nil
// where the machine has none. A test that stops it is not parallel to others.
var server *pgtest.Server

// childURL is set where the process is to be the writer that is killed.
const childURL = "PGSTORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		os.Exit(exitCode(storm(context.Background(), url)))
	}
	s, err := pgtest.New()
	if err != nil && !errors.Is(err, pgtest.ErrNone) {
		os.Exit(exitCode(err))
	}
	server = s
	code := m.Run()
	if s != nil {
		err = errors.Join(s.Close(), goleak.Find())
	}
	if code == 0 && s != nil {
		code = exitCode(err)
	}
	os.Exit(code)
}

func exitCode(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// database is an empty database of the shared server.
func database(t *testing.T) (url string) {
	t.Helper()
	if server == nil {
		t.Skip(pgtest.ErrNone)
	}
	return server.Database(t)
}

func open(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func load(t *testing.T, s *Store) (snapshot string, journal []string) {
	t.Helper()
	saved, err := s.Load(t.Context(), thread)
	require.NoError(t, err)
	for _, r := range saved.Journal {
		journal = append(journal, string(r))
	}
	return string(saved.Snapshot), journal
}
