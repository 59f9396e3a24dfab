package app_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

func TestUntrackedFilesAreNamedBeforeSomebodyIsAskedAboutThem(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("pr-review-action")
	require.NoError(t, err)
	for typed, sent := range map[string]bool{"y": true, "": false} {
		t.Run("answer "+typed, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			env := append(tuned(), "PATH="+os.Getenv("PATH"), "HOME="+dir, "XDG_STATE_HOME="+dir, "TERM=xterm",
				"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
				"GIT_COMMITTER_EMAIL=a@example.com", "OPENAI_API_KEY="+modelKey)
			made := exec.CommandContext(t.Context(), "sh", "-ec", `git init -q -b main .; echo one >a.txt; git add .
				git commit -qm one; echo two >>a.txt; echo three >notes.txt`)
			made.Dir, made.Env = dir, env
			require.NoError(t, made.Run())
			cmd := exec.CommandContext(t.Context(), path, "review", "--base-url", "https://model.invalid/v1", "--model",
				"gpt-6-luna", "--max-time", "1s", "--store", filepath.Join(dir, ".git", "drafts"))
			cmd.Dir, cmd.Env = dir, env
			screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
			require.NoError(t, err)
			defer screen.Close()
			_, err = io.WriteString(screen, typed+"\nl\n")
			require.NoError(t, err)
			var shown bytes.Buffer
			_, _ = io.Copy(&shown, screen) // ends with an error of its own when the program does
			_ = cmd.Wait()
			text := shown.String()
			first := strings.Index(text, "The work tree against main: 1 changed file, read by gpt-6-luna at "+
				"model.invalid. 1 untracked file: notes.txt.")
			question := strings.Index(text, "Send what is untracked to model.invalid too? [y/N]")
			require.True(t, first >= 0 && question > first, text)
			require.Equal(t, sent, strings.Contains(text[question:], "2 files to ask a model about"), text)
		})
	}
}
