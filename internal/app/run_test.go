package app_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/app"
)

func TestAnInterruptedCommandSaysSoAndNotWhatItBroke(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=n", "-c", "user.email=e@example.com",
		"commit", "-q", "--allow-empty", "-m", "one"}} {
		require.NoError(t, exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).Run())
	}
	t.Chdir(dir)
	for name, args := range map[string][]string{
		"git is killed":       {"review", "main...main"},
		"nothing was started": {"review", "demo", "--store", "store"},
		"JSON":                {"review", "main...main", "--json"},
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

func TestCompletionIsOfTheNameThatTheProgramWasCalledBy(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"bash", "fish", "zsh", "--help"} {
		var out bytes.Buffer
		require.Zero(t, app.Run(t.Context(), app.Process{Args: []string{"/bin/review-bot", "completion", last}, Stdout: &out}))
		require.Contains(t, out.String(), "review-bot completion")
		require.NotContains(t, out.String(), "pr-review-action")
	}
}
