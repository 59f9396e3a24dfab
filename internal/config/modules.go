package config

import (
	"cmp"

	"github.com/goccy/go-yaml/ast"
)

// Module is a part of a repository in which a ticket may be implemented.
type Module struct {
	Name        string   `json:"name"`
	Paths       []string `json:"paths"`           // globs
	Tests       []string `json:"tests,omitempty"` // globs of its tests, beside paths
	Description string   `json:"description,omitempty"`
	Rules       []string `json:"rules,omitempty"` // for who writes code there
}

// Implement bounds what is proposed for a ticket.
type Implement struct {
	MaxFiles    int    `json:"max_files,omitzero"`
	MaxLines    int    `json:"max_lines,omitzero"`
	MaxBytes    int    `json:"max_bytes,omitzero"`
	PullRequest string `json:"pull_request,omitzero"` // draft or link; empty for the first
}

// The largest proposals where nothing else is said.
const (
	maxProposedFiles = 20
	maxProposedLines = 800
	maxProposedBytes = 400 << 10
)

// Files is the most files that are changed.
func (i Implement) Files() int { return cmp.Or(i.MaxFiles, maxProposedFiles) }

// Lines is the most lines that are added or removed.
func (i Implement) Lines() int { return cmp.Or(i.MaxLines, maxProposedLines) }

// Bytes is the most bytes that the new texts have together.
func (i Implement) Bytes() int { return cmp.Or(i.MaxBytes, maxProposedBytes) }

// PullRequests are the values of implement.pull-request.
func PullRequests() []string { return []string{"draft", "link"} }

func implementKeys(i *Implement) keys {
	return keys{
		"max-files":    func(r *reader, n ast.Node) { r.whole(n, 1, maxProposedFiles, &i.MaxFiles) },
		"max-lines":    func(r *reader, n ast.Node) { r.whole(n, 1, maxProposedLines, &i.MaxLines) },
		"max-bytes":    func(r *reader, n ast.Node) { r.whole(n, 1, maxProposedBytes, &i.MaxBytes) },
		"pull-request": func(r *reader, n ast.Node) { r.oneOf(n, PullRequests(), &i.PullRequest) },
	}
}

// modules reads the list of modules: each has a name of its own and paths.
func (r *reader) modules(n ast.Node) []Module {
	var all []Module
	known := map[string]bool{}
	for _, item := range r.list(n) {
		var m Module
		before := len(r.problems)
		r.mapping(item, moduleKeys(&m))
		switch {
		case before < len(r.problems):
		case m.Name == "" || len(m.Paths) == 0:
			r.fail(item, "a module needs name and paths")
		case known[m.Name]:
			r.fail(item, "the module %.60q stands twice", m.Name)
		default:
			known[m.Name] = true
			all = append(all, m)
		}
	}
	return all
}

func moduleKeys(m *Module) keys {
	return keys{
		"name":        func(r *reader, n ast.Node) { r.text(n, &m.Name) },
		"paths":       func(r *reader, n ast.Node) { m.Paths = r.globs(n) },
		"tests":       func(r *reader, n ast.Node) { m.Tests = r.globs(n) },
		"description": func(r *reader, n ast.Node) { r.text(n, &m.Description) },
		"rules":       func(r *reader, n ast.Node) { m.Rules = r.texts(n) },
	}
}

func (c Config) moduleValues() any {
	all := []any{}
	for _, m := range c.Modules {
		all = append(all, map[string]any{"name": m.Name, "paths": list(m.Paths), "tests": list(m.Tests),
			"description": m.Description, "rules": list(m.Rules)})
	}
	return all
}

// texts is a list of texts.
func (r *reader) texts(n ast.Node) (all []string) {
	for _, item := range r.list(n) {
		var one string
		if r.text(item, &one) {
			all = append(all, one)
		}
	}
	return all
}
