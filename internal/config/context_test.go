package config_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/ticket"
)

func contextMistakes() []mistake {
	source := func(text string) string { return "context:\n  sources:\n    - " + text + "\n" }
	return []mistake{
		{"show", "context: {show: all}\n", `f.yml:1:17: "all" is not one of key, criteria, full`, false},
		{"context's key", "context: {project: [PAY]}\n", `did you mean "projects"?`, false},
		{"project", "context: {projects: [pay]}\n", `f.yml:1:22: "pay" is not a project's key, such as PAY`, false},
		{"label form", "context: {labels: ['jira:']}\n", `"jira:" is not a form of labels with one *`, false},
		{"context's limit", "context: {limit: 10m}\n", `"10m" is not a time in whole seconds from 1s to 5m`, true},
		{"tokens", "context: {tokens: -1}\n", "expected a whole number from 0 to 100000", false},
		{"bare limit", "context: {limit: 30}\n", "expected a time with its unit", false},
		{"no source", source("token-env: T"), "f.yml:3:16: a source is one of jira, confluence, mcp and issues", false},
		{"two sources", source("{jira: https://a.b, confluence: https://a.b, token-env: T}"),
			"one source is jira and confluence at once", false},
		{"no token", source("jira: https://a.b"), "jira needs token-env, the name of the variable with its token",
			false},
		{"token", source("{jira: https://a.b, token-env: 'hunter2!'}"),
			`f.yml:3:38: "hunter2!" is not the name of an environment variable`, false},
		{"T30 file address", source("{jira: 'file:///etc/passwd', token-env: T}"),
			"expected an address that begins with https://", false},
		{"T30 user in an address", source("{jira: 'https://u:p@a.b', token-env: T}"),
			"an address here has no user, no query and no fragment", false},
		{"query", source("{mcp: {preset: rovo, url: 'https://a.b?token=x'}}"), "no query", false},
		{"field of pages", source("{confluence: https://a.b, token-env: T, criteria-field: x}"),
			"criteria-field is a field of jira", false},
		{"field", source("{jira: https://a.b, token-env: T, criteria-field: a b}"),
			`"a b" is not a field's id, such as customfield_10042`, false},
		{"tracker", source("issues: gitlab"), `"gitlab" is not one of github`, false},
		{"beside issues", source("{issues: github, token-env: T}"), "with issues nothing else can be set", false},
		{"no server", source("mcp: {preset: rovo}"), "an MCP server has either command or url", false},
		{"two servers", source("mcp: {preset: rovo, url: https://a.b, command: [x]}"), "either command or url", false},
		{"no tools", source("mcp: {url: https://a.b}"), "without one no tool of it is called", false},
		{"preset", source("mcp: {preset: rova, url: https://a.b}"), `did you mean "rovo"?`, false},
		{"program's token", source("mcp: {command: [x], token-env: T, page: {tool: a, argument: b}}"),
			"token-env is for url; a program gets the variables of env", false},
		{"user alone", source("mcp: {url: https://a.b, user-env: U, page: {tool: a, argument: b}}"),
			"user-env needs token-env", false},
		{"no argument", source("mcp: {command: [x], ticket: {tool: a}}"),
			"the tool a needs argument, the name of what takes the key or id", true},
		{"pin", source("mcp: {command: [x], page: {tool: a, argument: b}, pin: {a: abc}}"), `"abc" is not a digest`,
			false},
		{"comment without text", source("mcp: {command: [x], ticket: {tool: a, argument: b}, comment: {tool: c, " +
			"argument: d}}"), "the tool c needs {text} in one of its arguments", true},
		{"answer's field", source("mcp: {command: [x], page: {tool: a, argument: b, text: a..b}}"),
			`"a..b" is not a field of an answer`, false},
	}
}

func TestContextHasDefaults(t *testing.T) {
	t.Parallel()
	var c config.Context
	require.Equal(t, 30*time.Second, c.Limit())
	require.Equal(t, 15*time.Second, c.CallLimit())
	require.Equal(t, []string{"jira:*", "*"}, c.LabelForms())
	require.Equal(t, ticket.ShowKey, c.Shows(false))
	require.Equal(t, ticket.ShowCriteria, c.Shows(true))
	c.Show = ticket.ShowFull
	require.Equal(t, ticket.ShowFull, c.Shows(false))
}

func TestValuesShowsNoTextOfAnArgument(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("f.yml", []byte("context: {sources: [{mcp: {preset: rovo, url: 'https://a.b', arguments: "+
		"{cloudId: hunter2, deep: [1, hunter2]}}}]}\n"))
	require.NoError(t, err)
	text, err := json.Marshal(c.Values(), jsontext.SpaceAfterColon(true))
	require.NoError(t, err)
	require.NotContains(t, string(text), "hunter2")
	require.Contains(t, string(text), `"preset": "rovo"`)
}
