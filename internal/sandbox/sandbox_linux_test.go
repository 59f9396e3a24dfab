package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/org/pr-review-action/internal/sandbox"
)

// A sandbox starts this program again, ahead of its tests.
func TestMain(m *testing.M) {
	sandbox.Enter()
	goleak.VerifyTestMain(m)
}

// holding fills a folder with files, by path.
func holding(files map[string]string) func(context.Context, *os.Root) error {
	return func(_ context.Context, into *os.Root) error {
		for path, text := range files {
			if err := errors.Join(into.MkdirAll(filepath.Dir(path), 0o755), into.WriteFile(path, []byte(text), 0o755)); err != nil {
				return err
			}
		}
		return nil
	}
}

// ran runs a command in a sandbox, or skips the test where another program has no
// namespaces either.
func ran(t *testing.T, s sandbox.Command, files map[string]string) sandbox.Ran {
	t.Helper()
	r, err := s.Run(t.Context(), holding(files))
	if errors.Is(err, sandbox.ErrUnavailable) && exec.Command("unshare", "-Urmpnf", "mount", "-t", "tmpfs", "none", "/tmp").Run() != nil {
		t.Skip("no user namespaces here: ", err)
	}
	require.NoError(t, err)
	return r
}

func TestASandboxRunsACommandOverTheFiles(t *testing.T) {
	t.Parallel()
	r := ran(t, sandbox.Command{Script: `cat d/a; ./run.sh; echo err >&2; exit 3`}, map[string]string{"d/a": "content\n", "run.sh": "#!/bin/sh\necho ran\n"})
	require.Equal(t, sandbox.Ran{End: "exit status 3", Output: "content\nran\nerr\n"}, r)
}

func TestT37_ASandboxHasNoEnvironmentButItsOwn(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-canary")
	r := ran(t, sandbox.Command{Script: "env -u PWD -u SHLVL -u OLDPWD -u _; cat /proc/*/environ | tr '\\0' '\\n'", Environment: []string{"CI=1"}}, nil)
	require.NotContains(t, r.Output, "canary")
	for line := range strings.Lines(r.Output) {
		name, _, _ := strings.Cut(line, "=")
		require.Contains(t, []string{"PATH", "HOME", "TMPDIR", "LANG", "CI", "PWD"}, name)
	}
}

func TestT37_ASandboxReachesNoListenerOfTheMachine(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	command := fmt.Sprintf("bash -c 'exec 3<>/dev/tcp/127.0.0.1/%s' && echo reached; grep -c 127.0.0.1 /proc/net/fib_trie >/dev/null && echo loopback; tail -n +3 /proc/net/dev | wc -l", port)
	r := ran(t, sandbox.Command{Script: command}, nil)
	require.NotContains(t, r.Output, "reached")
	require.Contains(t, r.Output, "Connection refused", "the try was made")
	require.Contains(t, r.Output, "loopback\n1\n", "one interface, which is up")
}

func TestT37_ASandboxSeesAndWritesNothingOfTheUser(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	outside, shown := filepath.Join(dir, "secret"), filepath.Join(dir, "shown")
	require.NoError(t, os.WriteFile(outside, []byte("canary"), 0o644))
	require.NoError(t, os.Mkdir(shown, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(shown, "cache"), []byte("from the cache"), 0o644))
	require.NoError(t, errors.Join(os.Chmod(dir, 0o777), os.Chmod(shown, 0o777)))
	command := fmt.Sprintf("cat %[1]s; echo x > %[1]s; mkdir -p %[2]s && echo x > %[2]s/planted-by-sandbox; echo x > /usr/planted-by-sandbox; cat %[3]s/cache; echo x > %[3]s/new", outside, home, shown)
	r := ran(t, sandbox.Command{Script: command, Shown: []string{shown}}, nil)
	require.Contains(t, r.Output, "from the cache")
	require.NoFileExists(t, filepath.Join(shown, "new"))
	require.NotContains(t, r.Output, "canary")
	require.Contains(t, r.Output, "Read-only file system")
	require.NoFileExists(t, filepath.Join(home, "planted-by-sandbox"))
	require.NoFileExists(t, "/usr/planted-by-sandbox")
	left, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "canary", string(left))
}

func TestT37_ASandboxHasNoRights(t *testing.T) {
	t.Parallel()
	r := ran(t, sandbox.Command{Script: `id -u; grep -E 'CapPrm|CapEff|CapAmb|NoNewPrivs' /proc/self/status; mount -t tmpfs none /tmp || echo refused; unshare -Urm umount -l /usr || echo locked`}, nil)
	require.Contains(t, r.Output, "1000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n")
	require.Contains(t, r.Output, "refused")
	require.Contains(t, r.Output, "locked")
}

func TestT31_WhatRunsWithoutEndIsEnded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ command, end string }{
		"sleeps":                    {"sleep 1000", "ended after 3s"},
		"leaves a child":            {"sleep 1000 & sleep 0", "exit status 0"},
		"a fork bomb":               {"f() { f | f & }; f; sleep 1000", "ended after 3s|exit status 2"},
		"prints without end":        {"yes", "ended after it had printed 1048576 bytes"},
		"ignores that nobody reads": {"trap '' PIPE TERM; while :; do echo x 2>/dev/null; done", "ended after"},
		"writes without end":        {"head -c 1G /dev/zero > f; stat -c %s f; rm f; for i in 1 2 3; do head -c 40M /dev/zero > f$i || exit 9; done", "exit status 9"},
		"takes memory":              {`awk 'BEGIN { s = "x"; for (i = 0; i < 28; i++) s = s s; exit 0 }'`, "exit status [^0]|signal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := sandbox.Limits{Time: 3 * time.Second, Memory: 64 << 20, Processes: 40, Output: 1 << 20}
			began := time.Now()
			r := ran(t, sandbox.Command{Script: tc.command, Limits: limits}, nil)
			require.Regexp(t, tc.end, r.End, r.Output)
			require.Less(t, time.Since(began), 60*time.Second)
		})
	}
}

func TestASandboxEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ran(t, sandbox.Command{Script: "true"}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r, err := (&sandbox.Command{Script: "sleep 1000"}).Run(ctx, holding(nil))
	require.True(t, err != nil || strings.Contains(r.End, "killed") || strings.Contains(r.End, "ended"), r.End)
}

func TestASandboxLeavesNoCopyBehind(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o777))
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	t.Setenv("TMPDIR", dir)
	ran(t, sandbox.Command{Script: "echo x > here; mkdir deep"}, map[string]string{"a": "b"})
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
