package pgstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/pgtest"
)

const password = "hunter2-s3cr3t"

func next(t *testing.T, err error) string {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	return e.Next()
}

func TestP12_ADatabaseThatCannotBeUsedSaysWhyAndWhatToDo(t *testing.T) {
	t.Parallel()
	good, err := url.Parse(database(t))
	require.NoError(t, err)
	folder := good.Query().Get("host")
	server.Exec(t, good.String(), "CREATE ROLE locked LOGIN CONNECTION LIMIT 0 PASSWORD '"+password+"'")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := listener.Addr().String()
	require.NoError(t, listener.Close())
	socket := func(user, database string) string {
		return fmt.Sprintf("postgres://%s:%s@/%s?host=%s", user, password, database, folder)
	}
	for name, c := range map[string]struct{ url, what, next string }{
		"not reachable": {"postgres://u:" + password + "@" + closed + "/d", "connection refused",
			"see that the server runs"},
		"no such host": {"postgres://u:" + password + "@host.invalid/d", "host.invalid", "see that the server runs"},
		"no such socket": {"postgres://u:" + password + "@/d?host=" + folder + "/none", folder + "/none",
			"see that the server runs"},
		"no such user": {socket("nobody", "postgres"), `role "nobody" does not exist`, "check user and password"},
		"no database":  {socket("postgres", "missing"), `database "missing" does not exist`, "createdb"},
		"too many":     {socket("locked", "postgres"), "too many connections", "max_connections"},
		"bad port": {"postgres://u:" + password + "@h:port/d", "not one of a Postgres database",
			"postgres://USER@HOST"},
		"bad escape":  {"postgres://u:" + password + "%zz@h/d", "not one of a Postgres database", "%XX"},
		"stray slash": {"postgres://u:" + password + "/x@h/d", "not one of a Postgres database", "%XX"},
		"bad sslmode": {"postgres://u:" + password + "@h/d?sslmode=maybe", "not one of a Postgres database",
			"postgres://"},
		"bad words":      {"user=u password='" + password, "not one of a Postgres database", "postgres://"},
		"another scheme": {"mysql://u:" + password + "@h/d", "not one of a Postgres database", "postgres://"},
	} {
		_, err := Open(t.Context(), c.url)
		require.ErrorContains(t, err, c.what, name)
		advice := next(t, err)
		require.Contains(t, advice, c.next, name)
		require.NotContains(t, advice+err.Error(), password, name)
		require.NotContains(t, err.Error(), "\n", name)
		for ; err != nil; err = errors.Unwrap(err) {
			require.NotContains(t, fmt.Sprintf("%v %+v", err, err), password, name)
		}
	}
}

func TestP12_AWrongPasswordIsNotShown(t *testing.T) {
	t.Parallel()
	address := database(t)
	server.Exec(t, address, "CREATE ROLE "+pgtest.Guarded+" LOGIN PASSWORD 'the right one'")
	wrong := strings.Replace(address, "postgres@", pgtest.Guarded+":"+password+"@", 1)
	_, err := Open(t.Context(), wrong)
	require.ErrorContains(t, err, `password authentication failed for user "`+pgtest.Guarded)
	require.Contains(t, next(t, err), "PGPASSWORD")
	require.NotContains(t, fmt.Sprintf("%+v", err), password)
	right := strings.Replace(address, "postgres@", pgtest.Guarded+":"+url.PathEscape("the right one")+"@", 1)
	_, err = Open(t.Context(), right)
	require.ErrorContains(t, err, "permission denied for database")
}

func TestWhereHasNoPassword(t *testing.T) {
	t.Parallel()
	s := open(t, strings.Replace(database(t), "postgres@", "postgres:"+password+"@", 1))
	require.Regexp(t, `/pgtest\d+:5432/test\d+$`, strings.Trim(s.Where(), "[]"))
	require.NotContains(t, s.Where(), password)
	require.NotContains(t, s.Where(), "postgres@")
}

func TestAServerThatIsTooOldIsRefused(t *testing.T) {
	t.Parallel()
	require.NoError(t, checkServer(130000))
	require.NoError(t, checkServer(180001))
	err := checkServer(120022)
	require.ErrorContains(t, err, "the server is Postgres 12.22")
	require.Contains(t, next(t, err), "version 13 or later")
}

func TestACancelledOpenIsACancellation(t *testing.T) {
	t.Parallel()
	url := database(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, url)
	require.ErrorIs(t, err, context.Canceled)
}
