package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

var (
	variable  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
	fieldID   = regexp.MustCompile(`^[A-Za-z0-9_]{1,100}$`)
	toolName  = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)
	fieldPath = regexp.MustCompile(`^[^\s.]+(\.[^\s.]+){0,9}$`)
	digest    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

func sourceKeys(s *Source) keys {
	of := func(kind string, read func(*reader, ast.Node)) func(*reader, ast.Node) {
		return func(r *reader, n ast.Node) {
			if s.Kind != "" {
				r.fail(n, "one source is %s and %s at once", s.Kind, kind)
			}
			s.Kind = kind
			read(r, n)
		}
	}
	address := func(r *reader, n ast.Node) { r.address(n, &s.URL) }
	return keys{
		SourceJira: of(SourceJira, address), SourceConfluence: of(SourceConfluence, address),
		SourceMCP: of(SourceMCP, func(r *reader, n ast.Node) { r.server(n, &s.MCP) }),
		SourceIssues: of(SourceIssues, func(r *reader, n ast.Node) {
			var host string
			r.oneOf(n, []string{"github"}, &host)
		}),
		"site":     func(r *reader, n ast.Node) { r.address(n, &s.Site) },
		"user-env": inVariable(&s.UserEnv), "token-env": inVariable(&s.TokenEnv),
		"criteria-field": func(r *reader, n ast.Node) {
			r.formed(n, fieldID, "a field's id, such as customfield_10042", &s.CriteriaField)
		},
	}
}

func (r *reader) sources(n ast.Node) []Source {
	var all []Source
	for _, item := range r.list(n) {
		var s Source
		before := len(r.problems)
		seen := r.mapping(item, sourceKeys(&s))
		if before == len(r.problems) {
			r.complete(item, s, seen)
		}
		all = append(all, s)
	}
	return all
}

// complete refuses a source that lacks what its kind needs, or has what no such one has.
func (r *reader) complete(n ast.Node, s Source, seen []string) {
	rest := s.Kind == SourceJira || s.Kind == SourceConfluence
	switch {
	case s.Kind == "":
		r.fail(n, "a source is one of jira, confluence, mcp and issues")
	case rest && s.TokenEnv == "":
		r.fail(n, "%s needs token-env, the name of the variable with its token", s.Kind)
	case !rest && len(seen) > 1:
		r.fail(n, "beside %s there is nothing to set", s.Kind)
	case s.Kind == SourceConfluence && s.CriteriaField != "":
		r.fail(n, "criteria-field is a field of jira")
	}
}

func serverKeys(m *MCP) keys {
	return keys{
		"command": func(r *reader, n ast.Node) {
			m.Command = r.matching(n, regexp.MustCompile(`^[^\x00]+$`), "a program or an argument")
		},
		"env": func(r *reader, n ast.Node) {
			m.Env = r.matching(n, variable, "the name of an environment variable")
		},
		"url":      func(r *reader, n ast.Node) { r.address(n, &m.URL) },
		"user-env": inVariable(&m.UserEnv), "token-env": inVariable(&m.TokenEnv),
		"preset":    func(r *reader, n ast.Node) { r.oneOf(n, Presets(), &m.Preset) },
		"arguments": func(r *reader, n ast.Node) { m.With = r.plain(n) },
		"ticket":    func(r *reader, n ast.Node) { r.tool(n, &m.Ticket, ticketToolKeys(&m.Ticket)) },
		"page":      func(r *reader, n ast.Node) { r.tool(n, &m.Page, pageToolKeys(&m.Page)) },
		"comment":   func(r *reader, n ast.Node) { r.commentTool(n, &m.Comment) },
		"pin":       func(r *reader, n ast.Node) { m.Pin = r.pins(n) },
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
		r.fail(n, "user-env needs token-env beside it")
	case m.Preset == "" && m.Ticket.Tool == "" && m.Page.Tool == "":
		r.fail(n, "an MCP server needs ticket, page or a preset: without one no tool of it is called")
	}
}

// inAnswer reads the path of a field in an answer.
func inAnswer(into *string) func(*reader, ast.Node) {
	return func(r *reader, n ast.Node) {
		r.formed(n, fieldPath, "a field of an answer, such as fields.summary", into)
	}
}

func ticketToolKeys(t *Tool) keys {
	all := toolKeys(t)
	all["summary"], all["description"], all["criteria"] = inAnswer(&t.Summary), inAnswer(&t.Description),
		inAnswer(&t.Criteria)
	return all
}

func commentToolKeys(t *Tool) keys {
	all := toolKeys(t)
	delete(all, "key")
	return all
}

func pageToolKeys(t *Tool) keys {
	all := toolKeys(t)
	all["title"], all["text"] = inAnswer(&t.Title), inAnswer(&t.Text)
	return all
}

func toolKeys(t *Tool) keys {
	name := func(into *string) func(*reader, ast.Node) {
		return func(r *reader, n ast.Node) { r.formed(n, toolName, "the name of a tool or argument", into) }
	}
	return keys{
		"tool": name(&t.Tool), "argument": name(&t.Argument),
		"arguments": func(r *reader, n ast.Node) { t.With = r.plain(n) }, "key": inAnswer(&t.Key),
	}
}

func (r *reader) tool(n ast.Node, t *Tool, known keys) {
	before := len(r.problems)
	r.mapping(n, known)
	placed := func(name string) bool { text, _ := t.With[name].(string); return strings.Contains(text, "{id}") }
	if before == len(r.problems) && t.Tool != "" && t.Argument == "" &&
		!slices.ContainsFunc(slices.Collect(maps.Keys(t.With)), placed) {
		r.fail(n, "the tool %s needs argument, the name of what takes the key or id, or {id} in arguments", t.Tool)
	}
}

// commentTool reads the tool that comments on a ticket, which is given the text.
func (r *reader) commentTool(n ast.Node, t *Tool) {
	before := len(r.problems)
	r.tool(n, t, commentToolKeys(t))
	says := func(v any) bool { text, _ := v.(string); return strings.Contains(text, "{text}") }
	if before == len(r.problems) && t.Tool != "" && !slices.ContainsFunc(slices.Collect(maps.Values(t.With)), says) {
		r.fail(n, "the tool %s needs {text} in one of its arguments, where the comment goes", t.Tool)
	}
}

// plain reads arguments: plain values by their names.
func (r *reader) plain(n ast.Node) map[string]any {
	all := map[string]any{}
	for _, e := range r.entries(n) {
		if v := r.value(e.Value, maxDepth); v != nil {
			all[keyName(e.Key)] = v
		}
	}
	return all
}

func (r *reader) pins(n ast.Node) map[string]string {
	all := map[string]string{}
	for _, e := range r.entries(n) {
		var s string
		if r.formed(e.Value, digest, "a digest, sha256: and 64 hex digits, as the command context shows it", &s) {
			all[keyName(e.Key)] = s
		}
	}
	return all
}
