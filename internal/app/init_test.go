package app_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// TestAStrangersFiveMinutes goes from a fresh clone to a waiting draft, by the commands
// of SETUP.md: init --apply at a terminal, the files on the default branch, init --check,
// and the draft's job with the inputs that the written workflow gives it.
func TestAStrangersFiveMinutes(t *testing.T) {
	for route, c := range map[string]struct {
		typed   []string
		decides string // the environment that the draft waits for
		shows   []string
	}{
		"approval": {[]string{"maya", modelKey}, gateName,
			[]string{"Who approves?", "done     environment ai-review, "}},
		"dispatch": {[]string{modelKey}, "", []string{"private, plan free", "pr-review-decide.yml"}},
	} {
		t.Run(route, func(t *testing.T) {
			s, began := setUp(t, scene{private: route == "dispatch"}), time.Now()
			s.repo.AddEnvironment(gateName) // as a run makes it by naming it: without a rule
			s.repo.Permit("maya", "admin")
			clone := s.freshClone()
			shown := s.inClone(clone, c.typed, "init", "--apply")
			for _, text := range append(c.shows, "done     environment ai-review-model", "done     secret",
				"done     label") {
				require.Contains(t, shown, text)
			}
			require.NotContains(t, shown, "Not seen")
			t.Logf("init --apply: %.1f s\n%s", time.Since(began).Seconds(), shown)
			if route == "approval" {
				s.asShown("GUIDES.md", "init --apply --reviewer maya", shown)
			}

			s.repo.SetEnvironment("ai-review-model", func(e *githubtest.Environment) { // not in this gh
				e.Secrets = []string{"OPENAI_API_KEY"}
			})
			s.repo.Commit("main", "Review pull requests", s.repo.Tree("main").With(written(t, clone)))
			shown = s.inClone(clone, nil, "init", "--check")
			require.NotRegexp(t, `(?m)^(no |unseen  [^e])`, shown)
			t.Logf("init --check: %.1f s\n%s", time.Since(began).Seconds(), shown)
			if route == "approval" {
				s.asShown("GUIDES.md", "init --check", shown)
				s.asShown("SETUP.md", "init --check", shown)
			}

			drafted := s.asWritten(clone).start().is(0, "PAUSED")
			require.Equal(t, c.decides, drafted.outputs["environment"])
			require.Empty(t, s.pull.Reviews())
			t.Logf("a draft waits: %.1f s", time.Since(began).Seconds())
		})
	}
}

// asShown holds what a command showed against what a page has behind it.
func (s *stage) asShown(page, command, shown string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join("../../.github", page))
	require.NoError(s.t, err)
	_, printed, found := strings.Cut(string(text), "$ pr-review-action "+command+"\n")
	require.True(s.t, found)
	printed, _, _ = strings.Cut(printed, "```")
	printed, _, _ = strings.Cut(printed, "$ ")
	holds(s.t, command, shown, printed)
}

// freshClone is a clone of the stage's repository, with a gh that takes a key.
func (s *stage) freshClone() string {
	s.t.Helper()
	dir := s.t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"remote", "add", "origin",
		"https://github.com/octo/demo.git"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(s.t, err, string(out))
	}
	gh := []byte("#!/bin/sh\nstty -echo\nread key\nstty echo\n[ \"$key\" = " + modelKey + " ]\n")
	require.NoError(s.t, os.WriteFile(filepath.Join(dir, ".git", "gh"), gh, 0o700))
	return dir
}

// inClone runs the command line on a terminal in a clone, and gives what it shows. Each
// line is typed when something is asked.
func (s *stage) inClone(dir string, typed []string, args ...string) string {
	s.t.Helper()
	cmd := s.command(map[string]string{"TERM": "xterm", "OPENAI_BASE_URL": s.model.URL,
		"PATH": filepath.Join(dir, ".git") + string(os.PathListSeparator) + os.Getenv("PATH")}, args...)
	cmd.Dir = dir
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(s.t, err)
	defer screen.Close()
	for _, line := range typed {
		_, err := io.WriteString(screen, line+"\n")
		require.NoError(s.t, err)
	}
	var shown bytes.Buffer
	_, _ = io.Copy(&shown, screen) // ends with an error of its own when the program does
	require.NoError(s.t, cmd.Wait(), shown.String())
	return strings.ReplaceAll(shown.String(), "\r\n", "\n")
}

// written are the files that init has left in a clone.
func written(t *testing.T, clone string) githubtest.Tree {
	t.Helper()
	files := githubtest.Tree{}
	for _, path := range []string{draftWorkflow, decidePath, ".github/pr-review.yml"} {
		if text, err := os.ReadFile(filepath.Join(clone, path)); err == nil {
			files[path] = string(text)
		}
	}
	return files
}

// asWritten is the draft's job with the inputs that a clone's workflow names.
func (s *stage) asWritten(clone string) *job {
	s.t.Helper()
	var file struct {
		Jobs map[string]struct {
			Steps []struct{ With map[string]string }
		}
	}
	require.NoError(s.t, yaml.Unmarshal([]byte(written(s.t, clone)[draftWorkflow]), &file))
	with := file.Jobs["draft"].Steps[0].With
	j := s.draftJob()
	for input := range j.inputs {
		if _, named := with[input]; !named && input != "base-url" && input != "model" {
			delete(j.inputs, input)
		}
	}
	return j.with("model", with["model"])
}
