package mcpclient_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/mcpclient"
	"github.com/org/pr-review-action/internal/ticket"
)

// A server of the registry knows Jira Cloud alone; this sends its requests to the fake.
const toFake = `const real = globalThis.fetch;
globalThis.fetch = (to, o) => real(String(to).replace("https://acme.atlassian.net", process.env.FAKE_JIRA), o);
`

// The server @aashari/mcp-server-atlassian-jira@3.3.0 is asked where MCP_SERVERS names
// a folder that it was installed in with npm.
func TestAServerFromNpmReadsAFakeJira(t *testing.T) {
	t.Parallel()
	server := filepath.Join(os.Getenv("MCP_SERVERS"), "node_modules/@aashari/mcp-server-atlassian-jira/dist/index.js")
	if os.Getenv("MCP_SERVERS") == "" {
		t.Skip("MCP_SERVERS names no folder")
	}
	issue := map[string]any{"key": "PAY-123", "fields": map[string]any{"summary": "Round refunds",
		"description": map[string]any{"type": "doc", "version": 1, "content": []any{
			map[string]any{"type": "heading", "attrs": map[string]any{"level": 2}, "content": []any{
				map[string]any{"type": "text", "text": "Acceptance criteria"}}},
			map[string]any{"type": "bulletList", "content": []any{map[string]any{"type": "listItem", "content": []any{
				map[string]any{"type": "text", "text": "Refunds are rounded"}}}}},
		}}}}
	jira := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if user, token, _ := r.BasicAuth(); user != "mei@acme.example" || token != "secret-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path != "/rest/api/3/issue/PAY-123" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if json.NewEncoder(w).Encode(issue) != nil {
			t.Error("the fake could not answer")
		}
	}))
	defer jira.Close()
	redirect := filepath.Join(t.TempDir(), "redirect.cjs")
	require.NoError(t, os.WriteFile(redirect, []byte(toFake), 0o600))
	o := mcpclient.Options{Name: "the MCP server node",
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "ATLASSIAN_SITE_NAME=acme",
			"ATLASSIAN_USER_EMAIL=mei@acme.example", "ATLASSIAN_API_TOKEN=secret-token", "FAKE_JIRA=" + jira.URL},
		MCP: config.MCP{Command: []string{"node", "--require", redirect, server},
			Ticket: config.Tool{Tool: "jira_get", Key: "key", Summary: "fields.summary",
				Description: "fields.description",
				With:        map[string]any{"path": "/rest/api/3/issue/{id}", "outputFormat": "json"}}}}
	s := open(t, o)
	got, err := s.Ticket(t.Context(), "PAY-123")
	require.NoError(t, err)
	require.Equal(t, "Round refunds", got.Summary)
	require.Equal(t, []ticket.Criterion{{Text: "Refunds are rounded"}}, got.Criteria)
	_, err = s.Ticket(t.Context(), "PAY-124")
	require.EqualError(t, err, "reports an error for PAY-124", "which it does not call one")
	began := time.Now()
	s.Close()
	require.Less(t, time.Since(began), 3*time.Second)
}
