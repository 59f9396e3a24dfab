package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/pattern"
)

// The kinds of sources, which are their keys in the settings.
const (
	SourceJira       = "jira"
	SourceConfluence = "confluence"
	SourceMCP        = "mcp"
	SourceIssues     = "issues"
)

// Source is one place that tickets or pages are read from. It never contains credentials,
// only the names of variables that hold them.
type Source struct {
	Kind          string `json:"kind"`
	URL           string `json:"url,omitzero"`  // of jira and confluence
	Site          string `json:"site,omitzero"` // site that links name if URL is a gateway
	UserEnv       string `json:"user_env,omitzero"`
	TokenEnv      string `json:"token_env,omitzero"`
	CriteriaField string `json:"criteria_field,omitzero"`
	MCP           MCP    `json:"mcp,omitzero"`
}

// MCP is a server of the Model Context Protocol, and which of its tools are called.
type MCP struct {
	Command  []string          `json:"command,omitempty"` // program and arguments; otherwise URL
	Env      []string          `json:"env,omitempty"`     // names of variables that the program gets
	URL      string            `json:"url,omitzero"`
	UserEnv  string            `json:"user_env,omitzero"` // as in Source
	TokenEnv string            `json:"token_env,omitzero"`
	Preset   string            `json:"preset,omitzero"`
	With     map[string]any    `json:"arguments,omitempty"` // arguments of every call
	Ticket   Tool              `json:"ticket,omitzero"`
	Page     Tool              `json:"page,omitzero"`
	Comment  Tool              `json:"comment,omitzero"` // {text} in its arguments is the comment
	Pin      map[string]string `json:"pin,omitempty"`    // tool → sha256:…
}

// Tool is one tool of an MCP server: its arguments, and where its answer holds each field,
// as names joined by dots. A field without a name is not read.
type Tool struct {
	Tool        string         `json:"tool,omitzero"`
	Argument    string         `json:"argument,omitzero"` // takes the key or the page's id
	With        map[string]any `json:"arguments,omitempty"`
	Key         string         `json:"key,omitzero"`         // must hold the key that was requested
	Summary     string         `json:"summary,omitzero"`     // for a page: title
	Description string         `json:"description,omitzero"` // for a page: text
	Criteria    string         `json:"criteria,omitzero"`
}

var (
	fieldID   = pattern.Lazy(`^[A-Za-z0-9_]{1,100}$`)
	toolName  = pattern.Lazy(`^[A-Za-z0-9_./-]{1,128}$`)
	fieldPath = pattern.Lazy(`^[^\s.]+(\.[^\s.]+){0,9}$`)
	argument  = pattern.Lazy(`^[^\x00]+$`)
	digest    = pattern.Lazy(`^sha256:[0-9a-f]{64}$`)
)

func sourceKeys(s *Source) keys {
	of := func(k key) key {
		read, show := k.read, k.show
		k.read = func(r *reader, n ast.Node) {
			if s.Kind != "" {
				r.fail(n, "one source is %s and %s at once", s.Kind, k.name)
			}
			s.Kind = k.name
			read(r, n)
		}
		k.show = func() any {
			if s.Kind != k.name {
				return nil
			}
			return show()
		}
		return k
	}
	var host string
	github := choice(SourceIssues, &host, "github", "github")
	return keys{
		of(address(SourceJira, &s.URL)),
		of(address(SourceConfluence, &s.URL)),
		of(key{name: SourceMCP, read: func(r *reader, n ast.Node) { r.server(n, &s.MCP) },
			show: func() any { return serverKeys(&s.MCP).toMap() }}),
		of(github),
		address("site", &s.Site), inVariable("user-env", &s.UserEnv),
		inVariable("token-env", &s.TokenEnv),
		checkedText("criteria-field", &s.CriteriaField, matching(fieldID(), "a field's id, such as customfield_10042")),
	}
}

// checkSource rejects a source that lacks what its kind needs, or sets what its kind does not have.
func checkSource(r *reader, n ast.Node, s Source) {
	rest := s.Kind == SourceJira || s.Kind == SourceConfluence
	switch {
	case s.Kind == "":
		r.fail(n, "a source is one of jira, confluence, mcp and issues")
	case rest && s.TokenEnv == "":
		r.fail(n, "%s needs token-env, the name of the variable with its token", s.Kind)
	case !rest && s.Site+s.UserEnv+s.TokenEnv+s.CriteriaField != "":
		r.fail(n, "with %s nothing else can be set", s.Kind)
	case s.Kind == SourceConfluence && s.CriteriaField != "":
		r.fail(n, "criteria-field is a field of jira")
	}
}

// inVariable is the name of an environment variable that holds the value.
func inVariable(name string, into *string) key {
	return checkedText(name, into, matching(variableName(), "the name of an environment variable"))
}

func serverKeys(m *MCP) keys {
	return keys{
		textList("command", &m.Command, matching(argument(), "a program or an argument")),
		textList("env", &m.Env, matching(variableName(), "the name of an environment variable")),
		address("url", &m.URL),
		inVariable("user-env", &m.UserEnv), inVariable("token-env", &m.TokenEnv),
		choice("preset", &m.Preset, "", "rovo", "sooperset"), arguments(&m.With),
		toolKey("ticket", &m.Ticket, ticketToolKeys), toolKey("page", &m.Page, pageToolKeys),
		toolKey("comment", &m.Comment, commentToolKeys),
		{name: "pin", read: func(r *reader, n ast.Node) { m.Pin = r.pins(n) }, show: func() any {
			if len(m.Pin) == 0 {
				return nil
			}
			return m.Pin
		}},
	}
}

func (r *reader) server(n ast.Node, m *MCP) {
	before := len(r.problems)
	r.mapping(n, serverKeys(m))
	stdio := len(m.Command) > 0
	switch {
	case len(r.problems) > before:
	case stdio == (m.URL != ""):
		r.fail(n, "an MCP server has either command or url")
	case stdio && m.TokenEnv != "":
		r.fail(n, "token-env is for url; a program gets the variables of env")
	case m.UserEnv != "" && m.TokenEnv == "":
		r.fail(n, "user-env needs token-env")
	case m.Preset == "" && m.Ticket.Tool == "" && m.Page.Tool == "":
		r.fail(n, "an MCP server needs ticket, page or a preset: without one no tool of it is called")
	}
}

// inAnswer is the path of a field in a tool's answer.
func inAnswer(name string, into *string) key {
	return checkedText(name, into, matching(fieldPath(), "a field of an answer, such as fields.summary"))
}

func ticketToolKeys(t *Tool) keys {
	return append(commentToolKeys(t), inAnswer("key", &t.Key), inAnswer("summary", &t.Summary),
		inAnswer("description", &t.Description), inAnswer("criteria", &t.Criteria))
}

func pageToolKeys(t *Tool) keys {
	return append(commentToolKeys(t), inAnswer("key", &t.Key), inAnswer("title", &t.Summary),
		inAnswer("text", &t.Description))
}

func commentToolKeys(t *Tool) keys {
	name := matching(toolName(), "the name of a tool or argument")
	return keys{checkedText("tool", &t.Tool, name), checkedText("argument", &t.Argument, name), arguments(&t.With)}
}

// toolKey is a tool, which must be told the ticket or page, and the text if it comments.
func toolKey(name string, t *Tool, keysOf func(*Tool) keys) key {
	known := keysOf(t)
	placed := func(what string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(t.With)), func(v any) bool {
			text, _ := v.(string)
			return strings.Contains(text, what)
		})
	}
	return key{name: name, show: known.toMap, read: func(r *reader, n ast.Node) {
		before := len(r.problems)
		r.mapping(n, known)
		switch {
		case before < len(r.problems) || t.Tool == "":
		case t.Argument == "" && !placed("{id}"):
			r.fail(n, "the tool %s needs argument, the name of what takes the key or id, or {id} in arguments", t.Tool)
		case name == "comment" && !placed("{text}"):
			r.fail(n, "the tool %s needs {text} in one of its arguments, where the comment goes", t.Tool)
		}
	}}
}

// arguments holds plain values by name.
func arguments(into *map[string]any) key {
	return key{name: "arguments", read: func(r *reader, n ast.Node) { *into = r.values(n) },
		show: func() any { return maskValues(*into) }}
}

func (r *reader) pins(n ast.Node) map[string]string {
	is := r.check(matching(digest(), "a digest, sha256: and 64 hex digits, as the command context shows it"))
	return r.textMap(n, func(e *ast.MappingValueNode, value string) { is(e.Value, value) })
}
