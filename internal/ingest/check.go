//go:build !noprograms

package ingest

import (
	"bytes"
	"context"
	"time"

	"github.com/org/pr-review-action/internal/process"
)

const maxOutput = 16 << 10

// Shell runs a command of the user's in a folder, with the variables of env alone, and
// reports whether it passed and what it printed last. What it leaves running is killed. The error is of a command that
// could not be started, or of the context.
func Shell(ctx context.Context, dir, command string, env []string) (passed bool, output string, err error) {
	cmd := process.Command(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append([]string{}, env...), 2*time.Second
	out := &tail{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return false, "", err
	}
	failed := cmd.Wait()
	_ = cmd.Cancel() // of a group that is gone, mostly
	if ctx.Err() != nil {
		return false, "", ctx.Err()
	}
	return failed == nil, string(bytes.ToValidUTF8(out.last, []byte("?"))), nil
}

type tail struct{ last []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	if over := len(t.last) - maxOutput; over > 0 {
		t.last = append(t.last[:0], t.last[over:]...)
	}
	return len(p), nil
}
