package pgtest

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// PGliteFolder is the variable that names a folder in which npm has installed
// @electric-sql/pglite, its socket server and its pgvector.
const PGliteFolder = "PGLITE_DIR"

// Vector starts a Postgres with pgvector that ends with the test, an empty database in
// memory, and returns its address. Debian has no pgvector for its server; PGlite, which
// needs node, has. The test is skipped where PGliteFolder names none.
func Vector(t testing.TB) string {
	t.Helper()
	modules := os.Getenv(PGliteFolder)
	if modules == "" {
		t.Skip("no Postgres with pgvector: " + PGliteFolder + " names no folder with PGlite")
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
