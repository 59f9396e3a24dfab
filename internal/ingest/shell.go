//go:build !noprograms

package ingest

import (
	"bytes"
	"context"
	"time"

	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/process"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/secret"
)

const maxOutput = 16 << 10

// Shell runs a user's command in a folder, with no environment variables but env. It reports
// whether the command passed and returns the last lines of its output. Processes that it leaves running
// are killed. The error is that of a command that could not be started, or the context's.
func Shell(ctx context.Context, dir, command string, env []string) (passed bool, output string, err error) {
	cmd := process.Command(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append([]string{}, env...), 2*time.Second
	out := &tail{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return false, "", err
	}
	_ = cmd.Wait()   // its error may be about a child that holds the output
	_ = cmd.Cancel() // usually the group is gone already
	if ctx.Err() != nil {
		return false, "", ctx.Err()
	}
	passed = cmd.ProcessState != nil && cmd.ProcessState.Success()
	return passed, secret.Tail(string(bytes.ToValidUTF8(out.last, []byte("?"))), maxOutput), nil
}

type tail struct{ last []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	if over := len(t.last) - 2*maxOutput; over > 0 {
		t.last = append(t.last[:0], t.last[over:]...)
	}
	return len(p), nil
}

var (
	hostName = pattern.Lazy(`^[a-z0-9][a-z0-9._-]*$`)
	atGitHub = pattern.Lazy(`(?mi)^hostname (?:ssh\.)?github\.com\r?$`)
)

// sshHost returns GitHub's name if ssh's configuration has it under an alias, as for a second account,
// else the name itself. It does not connect.
func sshHost(ctx context.Context, name string) string {
	if name == "ssh."+pull.DefaultHost {
		return pull.DefaultHost
	}
	if name != pull.DefaultHost && hostName().MatchString(name) {
		settings, err := process.Command(ctx, "ssh", "-G", name).Output()
		if err == nil && atGitHub().Match(settings) {
			return pull.DefaultHost
		}
	}
	return name
}
