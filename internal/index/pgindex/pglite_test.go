package pgindex_test

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pglite starts a Postgres with pgvector that ends with the test, an empty database in memory, and returns its address.
// Debian has no pgvector for its server; PGlite, which needs node, has. The test is skipped where PGLITE_DIR names no
// folder in which npm has installed @electric-sql/pglite, its socket server and its pgvector.
func pglite(t testing.TB) string {
	t.Helper()
	modules := os.Getenv("PGLITE_DIR")
	if modules == "" {
		t.Skip("no Postgres with pgvector: PGLITE_DIR names no folder with PGlite")
	}
	dir := t.TempDir()
	server := exec.Command("node", filepath.Join(modules,
		"node_modules/@electric-sql/pglite-socket/dist/scripts/server.js"),
		"--path", filepath.Join(dir, ".s.PGSQL.5432"), "--max-connections", "8",
		"--extensions", "@electric-sql/pglite-pgvector:vector")
	server.Dir, server.Stderr = modules, os.Stderr
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill() // it may have ended by itself
		_ = server.Wait()         // by that signal
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "listening") {
			go func() {
				for lines.Scan() { // a full pipe would stop it
				}
			}()
			return "postgres://postgres@/postgres?sslmode=disable&host=" + url.QueryEscape(dir)
		}
	}
	t.Fatal("PGlite ended before it listened")
	return ""
}
