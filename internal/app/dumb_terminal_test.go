package app_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

func TestADumbTerminalGetsNoEscapeSequences(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("pr-review-action")
	require.NoError(t, err)
	for kind, coloured := range map[string]bool{"dumb": false, "xterm": true} {
		cmd := exec.CommandContext(t.Context(), path, "review", "demo", "--provider", "offline", "--no-input", "--store",
			t.TempDir())
		cmd.Env = append(tuned(), "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(), "TERM="+kind)
		screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
		require.NoError(t, err)
		defer screen.Close()
		var shown bytes.Buffer
		_, _ = io.Copy(&shown, screen) // ends with an error of its own when the program does
		require.NoError(t, cmd.Wait(), shown.String())
		require.Contains(t, shown.String(), "Parked. Decide with")
		require.Equal(t, coloured, strings.Contains(shown.String(), "\r\x1b[2K"), "the progress of %s", kind)
		require.Equal(t, coloured, strings.Contains(shown.String(), "\x1b[1m"), "colours of %s", kind)
	}
}
