//go:build !noprograms

package setup

import (
	"context"
	"fmt"
	"os/exec"
)

// runGH runs the GitHub CLI at this process's terminal.
func (c *Command) runGH(ctx context.Context, args ...string) error {
	path, err := exec.LookPath("gh")
	if err != nil {
		return errNotHere
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Environ, c.Stdin, c.Stderr, c.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("gh: %w", err)
	}
	return nil
}
