package app_test

import (
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llmtest"
)

// TestATicketIsDecidedAtATerminal types what people type: approve in any case decides, and
// what does not begin with / is feedback, also behind a dropped file. A rejection may have its
// reason.
func TestATicketIsDecidedAtATerminal(t *testing.T) {
	t.Parallel()
	shown, text := atATerminal(t, "yes\n/drop none.txt\n/drop test.txt\nbe kinder\n/drop test.txt\nAPPROVE\n")
	for _, want := range []string{"approve commits it to a new branch", `"none.txt" is not a path of this draft`,
		"what you dropped may be in the next draft again", "revision 1 of 3", "POSTED fix/TASK-1-greet "} {
		require.Contains(t, shown, want)
	}
	require.Equal(t, "fix/TASK-1-greet:greet.txt:hello, friend", text)
	for _, typed := range []string{"Reject\n", "/drop test.txt\n/abort: another ticket\nlater\n"} {
		shown, text = atATerminal(t, typed)
		require.Contains(t, shown, "ABORTED local/")
		require.Empty(t, text)
	}
}

// atATerminal drafts a change for a ticket and types. It returns what was shown, and the files
// of the branch that was made, if any.
func atATerminal(t *testing.T, typed string) (shown, files string) {
	path, err := exec.LookPath("pr-review-action")
	require.NoError(t, err)
	change := func(word string) string {
		return `{"root_cause": "c", "changes": [{"path": "greet.txt", "description": "Greets.",
			"edits": [{"search": "hi", "replace": "` + word + `"}]}]}`
	}
	answers, err := llmtest.ReadImplement([]byte(`{"classify": {"confirmed_type": "Bug", "technical_summary": "s",
		"affected_components": [], "complexity": "low"}, "modules": {"affected_modules": ["root"], "reasoning": {},
		"files_likely_to_change": []}, "code": [` + change("hello") + `, ` + change("hello, friend") + `],
		"tests": {"tests": [{"path": "test.txt", "description": "t", "new_content": "x"}]}}`))
	require.NoError(t, err)
	model := llmtest.New(llmtest.Implement(answers, llmtest.Honest))
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	env := append(tuned(), "PATH="+os.Getenv("PATH"), "HOME="+dir, "XDG_STATE_HOME="+dir, "TERM=xterm",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com")
	made := exec.CommandContext(t.Context(), "sh", "-ec", `git init -q -b main .; echo hi >greet.txt; git add .
		git commit -qm one; echo '# Greet' >TASK-1.md`)
	made.Dir, made.Env = dir, env
	require.NoError(t, made.Run())
	cmd := exec.CommandContext(t.Context(), path, "implement", "TASK-1.md", "--base-url", server.URL+model.Base(),
		"--model", "fake", "--quiet", "--store", filepath.Join(dir, ".git", "drafts"))
	cmd.Dir, cmd.Env = dir, env
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
	require.NoError(t, err)
	defer screen.Close()
	_, err = io.WriteString(screen, typed)
	require.NoError(t, err)
	var all bytes.Buffer
	_, _ = io.Copy(&all, screen) // ends with an error of its own when the program does
	require.NoError(t, cmd.Wait(), all.String())
	tree := exec.CommandContext(t.Context(), "git", "grep", "", "fix/TASK-1-greet", "--")
	tree.Dir, tree.Env = dir, env
	text, _ := tree.Output() // fails where there is no such branch
	return all.String(), strings.TrimSpace(string(text))
}
