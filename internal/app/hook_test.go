package app_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llmtest"
)

// hookLine is the line that the guides have for .git/hooks/pre-push.
func hookLine(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", ".github", "GUIDES.md"))
	require.NoError(t, err)
	found := regexp.MustCompile("`\\.git/hooks/pre-push`[^`]*`([^`]+)`").FindSubmatch(text)
	require.NotNil(t, found, "the guides have no line for a pre-push hook")
	return string(found[1])
}

func TestThePrePushHookOfTheGuidesShowsADraftAndHoldsNoPushBack(t *testing.T) {
	t.Parallel()
	model := llmtest.Start(t, llmtest.Honest, func(m *llmtest.Server) { m.Key = modelKey })
	for name, tc := range map[string]struct {
		env  []string
		says string
	}{
		"by rules": {nil, "F1  "},
		"by a model": {[]string{"OPENAI_BASE_URL=" + model.URL, "OPENAI_API_KEY=" + modelKey},
			"F1  "},
		"a model that is not there": {[]string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_API_KEY=" + modelKey},
			"error: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			clone := filepath.Join(dir, "clone")
			run := func(args ...string) string {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-ec"}, args...)...)
				var out bytes.Buffer
				cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
				cmd.Env = append(append(tuned(), "PATH="+os.Getenv("PATH"), "HOME="+dir, "XDG_STATE_HOME="+dir,
					"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
					"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"), tc.env...)
				require.NoError(t, cmd.Run(), "%s", &out)
				return out.String()
			}
			run(`git init -q --bare origin; git init -q -b main clone; cd clone; git remote add origin ../origin
				echo 'package a' >a.go; git add .; git commit -qm one; git push -q origin main; git checkout -qb work
				printf 'package a\n\nimport "crypto/tls"\n' >a.go
				echo 'var c = tls.Config{InsecureSkipVerify: true}' >>a.go; echo 'var d = 1 // DEFECT: no check' >>a.go
				git commit -qam two`)
			require.NoError(t, os.WriteFile(filepath.Join(clone, ".git", "hooks", "pre-push"),
				[]byte("#!/bin/sh\n"+hookLine(t)+"\n"), 0o700))
			pushed := run("cd clone; git push origin work 2>&1")
			require.Contains(t, pushed, tc.says)
			require.Contains(t, pushed, "work -> work", "the push goes on")
		})
	}
}
