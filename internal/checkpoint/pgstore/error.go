package pgstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/org/pr-review-action/internal/graph"
)

// ErrAddress reports a URL that does not name a Postgres database.
var ErrAddress = errors.New("the store's address is not one of a Postgres database")

// Error is what a person reads if the database cannot be used: what was being
// done, where, and what went wrong. It contains no password.
type Error struct {
	doing, where string
	err          error
	next         string
}

// Error returns the message in one line.
func (e *Error) Error() string {
	if e.doing == "" {
		return e.err.Error()
	}
	return fmt.Sprintf("Postgres store %s, %s: %v", e.where, e.doing, e.err)
}

// Unwrap returns the cause, a *pgconn.PgError if the server reported it.
func (e *Error) Unwrap() error { return e.err }

// Next returns what to do about the error, or "" if that is unknown.
func (e *Error) Next() string { return e.next }

// explain turns an error of pgx into an *Error with advice. It returns errors
// that callers handle themselves, a busy thread or a cancellation, unchanged.
func (s *Store) explain(doing string, err error) error {
	if err == nil || errors.Is(err, graph.ErrBusy) || errors.Is(err, context.Canceled) {
		return err
	}
	e := &Error{doing: doing, where: s.where, err: err}
	var own *Error
	var answer *pgconn.PgError
	var network *net.OpError
	var connecting *pgconn.ConnectError
	const again = "see that the server runs and can be reached, then run it again: what was journalled is kept"
	switch {
	case errors.As(err, &own):
		e.err, e.next = own.err, own.next
	case errors.As(err, &answer):
		e.err, e.next = answer, advice(answer.Code)
	case errors.As(err, &network):
		e.err, e.next = network, again
	case errors.As(err, &connecting): // has a line for each address that was tried
		e.err, e.next = errors.New(strings.Join(strings.Fields(connecting.Unwrap().Error()), " ")), again
	default:
		e.next = again
	}
	if errors.Is(err, ErrLost) && !errors.Is(e.err, ErrLost) {
		e.err = fmt.Errorf("%w: %w", ErrLost, e.err)
	}
	return e
}

// advice returns what to do about an error reported by the server, by its
// SQLSTATE (PostgreSQL documentation, appendix A).
func advice(code string) string {
	switch code {
	case "28P01", "28000":
		return "check user and password: in the address, PGPASSWORD or ~/.pgpass; and what the server's " +
			"pg_hba.conf admits"
	case "3D000":
		return "create the database (createdb), or name another one in the address"
	case "42501":
		return "let the database's owner run this once, or grant the role CREATE on the database; after that USAGE " +
			"on schema pr_review and the rights to read and write its tables will do"
	case "25006":
		return "name the primary server: this one takes no writes"
	case "53300":
		return "wait until connections are free, or raise the server's max_connections; a run takes one beside its " +
			"pool (pool_max_conns in the address)"
	case "53100":
		return "make room on the server's disk, then run it again: what was journalled is kept"
	case "57P01", "57P02", "57P03":
		return "wait until the server is up, then run it again: what was journalled is kept"
	case "PRL01", "26000", "42P05": // see lostCodes
		return "name the server itself, or a pooler in session mode: a thread's lock needs its own session"
	}
	return ""
}
