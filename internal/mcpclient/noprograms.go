//go:build noprograms

package mcpclient

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/org/pr-review-action/internal/atlassian"
)

// program refuses: the action's image has no interpreter, and its jobs start no programs next to their tokens (T16).
func program(context.Context, []string, []string) (mcp.Transport, error) {
	return nil, atlassian.Fail("is a program, and the action's image starts none: use a url, or your own image")
}
