//go:build noprograms

package toolserver

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/org/pr-review-action/internal/tracker"
)

// program refuses: the action's image holds no interpreter, and its jobs start no
// programs beside their tokens (T16).
func program([]string, []string) (mcp.Transport, error) {
	return nil, tracker.Fail("is a program, and the action's image starts none: use a url, or an image of your own")
}
