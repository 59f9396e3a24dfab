package mcpclient

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Understood is what is made of an answer's text to a request for a key.
func Understood(text string, t Tool, key string) (names, description string, criteria int, err error) {
	a, err := read(&mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, t, key)
	return a.names, a.text(t.Description), len(a.criteria(t.Criteria)), err
}
