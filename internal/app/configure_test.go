package app_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/app"
)

func TestConfigPrintShowsEveryInputThatIsNotAboutOneDraft(t *testing.T) {
	t.Parallel()
	var declared struct {
		Inputs map[string]any `yaml:"inputs"`
	}
	text, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &declared))
	require.NotEmpty(t, declared.Inputs)
	oneDraft := []string{"pull-request", "code", "draft", "run-id", "checkpoint-digest", "decision", "feedback",
		"commands", "again", "ticket"}

	var stdout, stderr bytes.Buffer
	code := app.Run(t.Context(), app.Process{Args: []string{"pr-review", "config", "print", "--json", os.DevNull},
		Stdout: &stdout, Stderr: &stderr})
	require.Zero(t, code, stderr.String())
	var printed struct{ Settings map[string]any }
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &printed))
	for name := range declared.Inputs {
		if name == "config" || name == "defaults" { // they are the files of the lines
			continue
		}
		require.Equal(t, !slices.Contains(oneDraft, name), printed.Settings[name] != nil, name)
	}
}

func TestConfigCheckShowsAFilesNameWithoutItsControls(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a\x1b[2J\n\u202e.yml")
	require.NoError(t, os.WriteFile(file, []byte("x: 1\n"), 0o600))
	var stdout, stderr bytes.Buffer
	for _, verb := range []string{"check", "print"} {
		require.Equal(t, 2, app.Run(t.Context(), app.Process{Args: []string{"pr-review", "config", verb, file},
			Stdout: &stdout, Stderr: &stderr}))
	}
	require.NoError(t, os.WriteFile(file, []byte("language: German\nadmission: {label: \"\\u202e\"}\n"), 0o600))
	require.Zero(t, app.Run(t.Context(), app.Process{Args: []string{"pr-review", "config", "print", file},
		Stdout: &stdout, Stderr: &stderr}))
	require.Regexp(t, `(?m)^language: German # .*\.yml:1$`, stdout.String())
	require.Contains(t, stderr.String(), `.yml:1:1: unknown key "x"`)
	require.NotContains(t, stdout.String()+stderr.String(), "\x1b")
	require.NotContains(t, stdout.String()+stderr.String(), "\u202e")
}
