package mcpclient_test

import (
	"context"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
)

type saying struct {
	ID   string `json:"id"`
	Body string `json:"body"`
}

func TestACommentGoesToTheToolOfTheSettings(t *testing.T) {
	t.Parallel()
	var said []string
	server := newServer("", func(id string) string {
		text := ""
		for _, s := range said {
			text += s
		}
		return reference(id, text)
	})
	mcp.AddTool(server, &mcp.Tool{Name: "add_comment"},
		func(_ context.Context, _ *mcp.CallToolRequest, in saying) (*mcp.CallToolResult, any, error) {
			if in.ID != "PAY-7" {
				return nil, nil, errors.New("no such ticket")
			}
			said = append(said, in.Body)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil, nil
		})
	o := ofReference()
	o.URL = serve(t, server, "")
	o.Comment = config.Tool{Tool: "add_comment", Argument: "id", With: map[string]any{"body": "{text}"}}
	s := open(t, o)
	const address = "https://github.com/o/r/pull/57"
	there, err := s.Mentions(t.Context(), "PAY-7", address)
	require.NoError(t, err)
	require.False(t, there)
	require.NoError(t, s.Comment(t.Context(), "PAY-7", "Draft pull request:", address))
	require.Equal(t, []string{"Draft pull request: " + address}, said)
	there, err = s.Mentions(t.Context(), "PAY-7", address)
	require.NoError(t, err)
	require.True(t, there)
	require.EqualError(t, s.Comment(t.Context(), "PAY-8", "x", address), "reports an error for PAY-8")

	o.Pin = map[string]string{"add_comment": "sha256:0"}
	require.ErrorContains(t, open(t, o).Comment(t.Context(), "PAY-7", "x", address), "has changed the tool add_comment")
	require.Len(t, said, 1, "T28: a tool that has changed is not called")
}
