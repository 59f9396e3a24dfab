//go:build !noprograms && !unix

package process

import (
	"context"
	"os/exec"
)

// Command returns exec.CommandContext's command.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, name, args...)
}
