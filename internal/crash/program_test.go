package crash

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// built is the program under test, as it is shipped.
var built string

func TestMain(m *testing.M) { os.Exit(withProgram(m)) }

func withProgram(m *testing.M) int {
	dir, err := os.MkdirTemp("", "crash-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built = filepath.Join(dir, "pr-review-action")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", built, "../..")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		return 1
	}
	return m.Run()
}

// exit is how a process ended.
type exit struct {
	killed         bool // by us, before it was done
	code           int
	stdout, stderr string
}

// command starts a process and waits for its end, which comes after a time at
// the latest: kill -9. Zero lets it run.
func command(t *testing.T, home string, after time.Duration, args ...string) exit {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), built, args...)
	cmd.Env = []string{"HOME=" + home, "USER=rita", "OPENAI_API_KEY=sk-of-the-fake", "GOGC=400"}
	cmd.Dir = home
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	if after > 0 {
		defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop() // it may have ended
	}
	_ = cmd.Wait() // its state says the same
	code := cmd.ProcessState.ExitCode()
	return exit{killed: code < 0, code: code, stdout: stdout.String(), stderr: stderr.String()}
}
