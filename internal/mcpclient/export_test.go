package mcpclient

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/org/pr-review-action/internal/config"
)

// Understood is what is made of an answer's text to a request for a key.
func Understood(text string, t config.Tool, key string) (names, description string, criteria int, err error) {
	a, err := parseAnswer(&mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, key)
	return a.keyFor(t.Key, key), a.text(t.Description), len(a.criteria(t.Criteria)), err
}
