package app_test

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// said is what the command line printed.
type said struct {
	t              *testing.T
	code           int
	stdout, stderr string
}

// cli runs the command line as maya does at home, with more in the environment.
func (s *stage) cli(more map[string]string, args ...string) said {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := s.command(more, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); !errors.As(err, new(*exec.ExitError)) {
		require.NoError(s.t, err)
	}
	require.NotContains(s.t, stdout.String()+stderr.String(), "goroutine ", "a crash")
	return said{s.t, cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (s *stage) command(more map[string]string, args ...string) *exec.Cmd {
	s.t.Helper()
	path, err := exec.LookPath("pr-review-action")
	require.NoError(s.t, err)
	dir := s.t.TempDir()
	env := map[string]string{
		"HOME": dir, "XDG_STATE_HOME": dir, "USER": "maya", "GITHUB_API_URL": s.hub.URL, "GITHUB_TOKEN": s.hub.UserToken("maya"),
		"OPENAI_BASE_URL": s.model.URL, "OPENAI_API_KEY": modelKey, "OPENAI_MODEL": "story-1",
	}
	maps.Copy(env, more)
	cmd := exec.CommandContext(s.t.Context(), path, args...)
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Dir = dir
	return cmd
}

func (e said) ends(code int) said {
	e.t.Helper()
	require.Equal(e.t, code, e.code, "%s\n%s", e.stdout, e.stderr)
	return e
}

func fault200(body string) githubtest.Fault {
	return githubtest.Fault{Status: http.StatusOK, Body: body}
}
