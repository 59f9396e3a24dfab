package app_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

const named = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"golangci-lint"}},"results":[{"ruleId":"errcheck",
"level":"error","message":{"text":"Error return value of os.Remove is not checked"},"locations":[{"physicalLocation":
{"artifactLocation":{"uri":"a.go"},"region":{"startLine":6,"startColumn":11}}}]}]}]}`

// A newcomer's first minute: a fresh clone, a defect in the work tree that a linter named, and
// the decision in the list, typed on a terminal of 80 columns.
func TestADefectThatALinterNamedIsDecidedInTheListWithinAMinuteOfACloning(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("pr-review-action") // of the scripts' TestMain
	require.NoError(t, err)
	dir := t.TempDir()
	env := append(tuned(), "PATH="+os.Getenv("PATH"), "HOME="+dir, "XDG_STATE_HOME="+dir, "TERM=xterm",
		"NO_COLOR=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lint.sarif"), []byte(named), 0o600))
	seed := exec.CommandContext(t.Context(), "sh", "-ec", `git init -q -b main seed; cd seed
		printf 'package a\n\nimport "os"\n\nfunc f() error {\n\treturn os.Remove("x")\n}\n' >a.go
		git add .; git commit -qm one`)
	seed.Dir, seed.Env = dir, env
	require.NoError(t, seed.Run())

	minute, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cloned := exec.CommandContext(minute, "sh", "-ec", `git clone -q seed clone; cd clone
		printf 'package a\n\nimport "os"\n\nfunc f() {\n\tos.Remove("x")\n}\n' >a.go`)
	cloned.Dir, cloned.Env = dir, env
	require.NoError(t, cloned.Run())
	cmd := exec.CommandContext(minute, path, "review", "--provider", "offline", "--findings", "../lint.sarif",
		"--store", filepath.Join(dir, "drafts"))
	cmd.Dir, cmd.Env = filepath.Join(dir, "clone"), env
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(t, err)
	defer screen.Close()
	shown := ""
	for _, step := range []struct{ seen, keys string }{
		{"The work tree against origin/main: 1 changed file, read by rules on this machine.", ""},
		{"F1  major  a.go:6  Error return value of os.Remove is not checked", ""},
		{"[e]dit", "e\n"}, {"[a]pprove", "a"}, {"any other key: back", "y"}, {"POSTED standard output", ""},
	} {
		buffer := make([]byte, 4096)
		for !strings.Contains(shown, step.seen) {
			n, err := screen.Read(buffer)
			require.NoError(t, err, "%q is not in %s", step.seen, shown)
			shown += string(buffer[:n])
		}
		_, shown, _ = strings.Cut(shown, step.seen)
		_, err := io.WriteString(screen, step.keys)
		require.NoError(t, err)
	}
	_, _ = io.Copy(io.Discard, screen) // ends with an error of its own when the program does
	require.NoError(t, cmd.Wait())
}
