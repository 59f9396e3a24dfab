package app_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
)

// pricedModel is one with a built-in price, so that the default cap holds.
const pricedModel = "gpt-5-mini"

// clone makes a git repository of two commits: none of the files, then all. Base
// is what the first one holds besides.
func clone(t testing.TB, base, head map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git",
			append([]string{"-c", "user.name=ada", "-c", "user.email=ada@example.com"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "git %v: %s", args, out)
	}
	git("init", "--quiet", "--initial-branch=main")
	for _, files := range []map[string]string{base, head} {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			path := filepath.Join(dir, filepath.FromSlash(name))
			require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
				os.WriteFile(path, []byte(files[name]), 0o600)))
		}
		git("add", "--all")
		git("commit", "--quiet", "--allow-empty", "--message=change")
	}
	return dir
}

// shell is the command line in a folder, asking the model at an address.
type shell struct {
	t          testing.TB
	dir, model string // the working folder; the base URL
	environ    []string
}

// spoken is what the command line left behind, with the fields of --json.
type spoken struct {
	Code     int                  `json:"-"` // the process's exit code
	Stderr   string               `json:"-"`
	Outcome  string               `json:"outcome"`
	Thread   string               `json:"thread_id"`
	Files    []finding.FileReview `json:"files"`
	Findings []finding.Finding    `json:"findings"`
	Usage    cost.Usage           `json:"usage"`
	Partial  bool                 `json:"partial"`
	Message  string               `json:"message"`
	Body     string               `json:"body"`
	Stdout   string               `json:"-"`
}

// command is the process, ready to start.
func (s shell) command(args ...string) *exec.Cmd {
	path, err := exec.LookPath("pr-review-action") // of the scripts' TestMain
	require.NoError(s.t, err)
	cmd := exec.CommandContext(s.t.Context(), path, args...)
	cmd.Dir = s.dir
	cmd.Env = append(tuned(), "HOME="+s.t.TempDir(), "USER=rita", "PATH="+os.Getenv("PATH"),
		"OPENAI_API_KEY=sk-test", "OPENAI_BASE_URL="+s.model)
	cmd.Env = append(cmd.Env, s.environ...)
	return cmd
}

// TestADecisionNamesTheAccountOfThisMachine has no variable that says who it is, as in a container.
func TestADecisionNamesTheAccountOfThisMachine(t *testing.T) {
	t.Parallel()
	name := "somebody" // where the machine has no name for the account, either
	if me, err := user.Current(); err == nil {
		name = me.Username
	}
	s := shell{t: t, dir: t.TempDir(), environ: []string{"USER=", "LOGNAME="}}
	args := []string{"review", "demo", "--provider", "offline", "--approve", "--quiet", "--store", t.TempDir()}
	out := exited(t, s.command(args...))
	require.Zero(t, out.Code, out.Stderr)
	require.Contains(t, out.Stdout, "approved by "+name+" on ")
}

// review runs a review of the last commit with --json.
func (s shell) review(args ...string) spoken {
	s.t.Helper()
	return s.run(append([]string{"review", "main~1..main"}, args...)...)
}

// run runs the command line with --json.
func (s shell) run(args ...string) spoken {
	s.t.Helper()
	p := exited(s.t, s.command(append(args, "--json")...))
	r := spoken{Code: p.Code, Stderr: p.Stderr, Stdout: p.Stdout}
	if text := strings.TrimSpace(r.Stdout); text != "" {
		require.NoError(s.t, json.Unmarshal([]byte(text), &r), "%s\n%s", text, r.Stderr)
	}
	return r
}

// file is a file's state and reason in the draft.
func (r spoken) file(path string) (state, reason string) {
	for _, f := range r.Files {
		if f.Path == path {
			return string(f.State), string(f.Reason)
		}
	}
	return "", ""
}
