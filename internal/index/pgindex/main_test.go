package pgindex_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/org/pr-review-action/internal/pgtest"
)

// server is the one server of all tests. It is set once, before they run, and nil
// where the machine has none. A test that stops it is not parallel to others.
var server *pgtest.Server

func TestMain(m *testing.M) {
	s, err := pgtest.New()
	if err != nil && !errors.Is(err, pgtest.ErrNone) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server = s
	code := m.Run()
	if s != nil {
		err = errors.Join(s.Close(), goleak.Find())
	}
	if code == 0 && s != nil && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// database is an empty database of the shared server.
func database(t *testing.T) (address string) {
	t.Helper()
	if server == nil {
		t.Skip(pgtest.ErrNone)
	}
	return server.Database(t)
}
