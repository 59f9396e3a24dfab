// Package pgtest starts private Postgres servers for tests: each in its own folder, on a Unix socket there, with
// its writes synced to disk.
//
// It never touches a server that it did not start, and a server ends with the test's process, however that ends.
// Start reading at New.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// ErrNone reports that the programs of a Postgres server are not installed.
var ErrNone = errors.New("no Postgres server is installed here (initdb and pg_ctl)")

// Guarded is the only role that a server asks for its password, once a test created it.
const Guarded = "guarded"

// Server is a running server. Its owner is role postgres.
type Server struct {
	dir        string
	bin        string
	runAs      []string // a command prefix that runs a program as another user
	databases  atomic.Int64
	guard      *exec.Cmd
	guardInput io.Closer
}

// Start starts a server that ends with the test. It skips the test if none is installed.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := New()
	if errors.Is(err, ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// New starts a server, for several tests or for a TestMain, until Close.
func New() (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin}
	if err := errors.Join(s.disown(), s.watch()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	err = s.run("initdb", "--pgdata", s.data(), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8",
		"--no-locale", "--no-sync")
	if err == nil {
		err = os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"),
			[]byte("local all "+Guarded+" scram-sha-256\nlocal all all trust\n"), 0o600)
	}
	if err == nil {
		err = s.StartAgain()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// programs returns the folder of the newest server's programs: on the PATH, otherwise where Debian has them.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path)
		return filepath.Dir(path), err
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.Join(ErrNone, err)
	}
	return filepath.Dir(slices.Max(found)), nil // Debian's versions have two digits
}

// disown gives the folder to user nobody if this user is root, for whom the server refuses to run.
func (s *Server) disown() error {
	if os.Getuid() != 0 {
		return nil
	}
	const nobody = 65534
	id := strconv.Itoa(nobody)
	s.runAs = []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups"}
	return os.Chown(s.dir, nobody, nobody)
}

// watch starts a shell that waits for the end of its input, at Close or at the end of this process, and then cleans
// up.
func (s *Server) watch() error {
	stop := fmt.Sprintf(`cat; if [ -e '%[1]s/postmaster.pid' ]; then '%[2]s/pg_ctl' stop --pgdata '%[1]s' --mode`+
		` immediate; fi >/dev/null 2>&1; rm -rf '%[3]s' 2>/dev/null || true`, s.data(), s.bin, s.dir)
	s.guard = s.command("sh", "-c", stop)
	alive, err := s.guard.StdinPipe()
	if err != nil {
		return err
	}
	s.guardInput = alive
	return s.guard.Start()
}

// Close ends the server and removes its folder.
func (s *Server) Close() error {
	return errors.Join(s.guardInput.Close(), s.guard.Wait(), os.RemoveAll(s.dir))
}

// Stop ends the server by one of pg_ctl's modes: "fast" is an orderly shutdown, "immediate" a crash.
func (s *Server) Stop(mode string) error {
	return s.run("pg_ctl", "stop", "--pgdata", s.data(), "--wait", "--mode", mode)
}

// StartAgain restarts a stopped server with its data.
func (s *Server) StartAgain() error {
	options := fmt.Sprintf("-c fsync=on -c listen_addresses= -c unix_socket_directories=%s", s.dir)
	return s.run("pg_ctl", "start", "--pgdata", s.data(), "--wait", "--silent", "--log", filepath.Join(s.dir, "log"),
		"--options", options)
}

// URL returns the address of the server's first database.
func (s *Server) URL() string { return s.address("postgres") }

// Database makes an empty database and returns its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", s.databases.Add(1))
	s.Exec(t, s.URL(), "CREATE DATABASE "+name)
	return s.address(name)
}

// Exec runs statements at an address, like another user of the database.
func (s *Server) Exec(t testing.TB, address, sql string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // a Cleanup may call it
	c, err := pgx.Connect(ctx, address)
	if err == nil {
		_, err = c.Exec(ctx, sql)
		err = errors.Join(err, c.Close(ctx))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *Server) address(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(s.dir)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) run(name string, args ...string) error {
	out, err := s.command(filepath.Join(s.bin, name), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	line := append(slices.Clone(s.runAs), append([]string{name}, args...)...)
	c := exec.Command(line[0], line[1:]...)
	c.Dir = s.dir
	return c
}
