package app_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/app"
)

func TestAnInterruptedCommandSaysSoAndNotWhatItBroke(t *testing.T) {
	t.Chdir(ticketClone(t))
	for name, args := range map[string][]string{
		"git is killed":       {"review", "main...main"},
		"nothing was started": {"review", "demo", "--store", "store"},
		"JSON":                {"review", "main...main", "--json"},
		"a ticket":            {"implement", "TASK-1.md", "--base-url", "http://127.0.0.1:1", "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancelCause(t.Context())
			interrupt(errors.New("interrupt signal received"))
			var out, trouble bytes.Buffer
			require.Equal(t, 1, app.Run(ctx, app.Process{Args: append([]string{"pr-review-action"}, args...),
				Stdin: new(bytes.Buffer), Stdout: &out, Stderr: &trouble}))
			require.Contains(t, trouble.String(),
				"error: interrupt signal received\n  next    run it again: what was finished is kept\n")
			require.NotContains(t, trouble.String()+out.String(), "context canceled")
		})
	}
}

func TestATicketThatWasInterruptedIsShownAsUnderWay(t *testing.T) {
	t.Chdir(ticketClone(t))
	ctx, interrupt := context.WithCancel(t.Context())
	model := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { interrupt() }))
	defer model.Close()
	run := func(ctx context.Context, args ...string) (code int, shown string) {
		var out bytes.Buffer
		return app.Run(ctx, app.Process{Args: append([]string{"pr-review-action"}, args...), Stdin: new(bytes.Buffer),
			Stdout: &out, Stderr: io.Discard}), out.String()
	}
	code, _ := run(ctx, "implement", "TASK-1.md", "--base-url", model.URL, "--model", "fake", "--store", "store")
	require.Equal(t, 1, code)
	code, shown := run(t.Context(), "show", "TASK-1", "--store", "store")
	require.Zero(t, code)
	require.Regexp(t, "^UNDER WAY local/.*: classify ticket\nIf it was interrupted, the same command continues it.\n$",
		shown)
	code, shown = run(t.Context(), "show", "TASK-1", "--store", "store", "--json")
	require.Zero(t, code)
	require.Contains(t, shown, `"outcome": "",`)
}

// ticketClone returns a clone with a commit and a ticket.
func ticketClone(t *testing.T) string {
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=n", "-c", "user.email=e@example.com",
		"commit", "-q", "--allow-empty", "-m", "one"}} {
		require.NoError(t, exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).Run())
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "TASK-1.md"), []byte("# Greet\n"), 0o600))
	return dir
}

func TestCompletionIsOfTheNameThatTheProgramWasCalledBy(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"bash", "fish", "zsh", "--help"} {
		var out bytes.Buffer
		require.Zero(t, app.Run(t.Context(), app.Process{Args: []string{"/bin/review-bot", "completion", last},
			Stdout: &out}))
		require.Contains(t, out.String(), "review-bot completion")
		require.NotContains(t, out.String(), "pr-review-action")
	}
}
