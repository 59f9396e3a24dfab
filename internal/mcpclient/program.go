//go:build !noprograms

package mcpclient

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/org/pr-review-action/internal/process"
)

// program starts a server as a child process whose environment is env and nothing else. Its standard error is
// not read. At the end its standard input is closed; a quarter of a second later it is told to stop, and after
// another one it is killed with all its children. It outlives ctx.
func program(ctx context.Context, command, env []string) (mcp.Transport, error) {
	child := process.Command(context.WithoutCancel(ctx), command[0], command[1:]...)
	child.Env = append([]string{}, env...)
	child.WaitDelay = 250 * time.Millisecond
	return group{mcp.CommandTransport{Command: child, TerminateDuration: 250 * time.Millisecond}}, nil
}

// group is a program that ends together with all the processes it started.
type group struct{ mcp.CommandTransport }

// Connect starts the program.
func (g group) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := g.CommandTransport.Connect(ctx)
	return connection{c, g.Command.Cancel}, err
}

type connection struct {
	mcp.Connection
	kill func() error
}

// Close ends the program as the protocol requires, and then the rest of its group.
func (c connection) Close() error {
	err := c.Connection.Close()
	_ = c.kill() // mostly nothing is left
	return err
}
