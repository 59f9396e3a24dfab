//go:build !noprograms

package mcpclient

import (
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// program starts a server as a child process that gets the variables of env and nothing else. What it writes to
// standard error is not read. At the end its standard input is closed; a quarter of a second later it is told to
// stop, and after another one killed.
func program(command, env []string) (mcp.Transport, error) {
	child := exec.Command(command[0], command[1:]...)
	child.Env = append([]string{}, env...)
	child.WaitDelay = 250 * time.Millisecond
	return &mcp.CommandTransport{Command: child, TerminateDuration: 250 * time.Millisecond}, nil
}
