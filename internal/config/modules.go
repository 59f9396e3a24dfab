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

func moduleKeys(m *Module) keys {
	return keys{
		text("name", &m.Name), listed("paths", &m.Paths, wrongGlob), listed("tests", &m.Tests, wrongGlob),
		text("description", &m.Description), listed("rules", &m.Rules, free),
	}
}

// checkModules refuses modules without a name of their own or paths.
func checkModules() func(*reader, ast.Node, Module) {
	known := map[string]bool{}
	return func(r *reader, n ast.Node, m Module) {
		switch {
		case m.Name == "" || len(m.Paths) == 0:
			r.fail(n, "a module needs name and paths")
		case known[m.Name]:
			r.fail(n, "the module %.60q appears twice", m.Name)
		}
		known[m.Name] = true
	}
}

// Implement bounds what is proposed for a ticket.
type Implement struct {
	MaxFiles    int    `json:"max_files,omitzero"`
	MaxLines    int    `json:"max_lines,omitzero"`
	MaxBytes    int    `json:"max_bytes,omitzero"`
	PullRequest string `json:"pull_request,omitzero"` // draft or link; empty for the first
}

// Files is the most files that are changed.
func (i Implement) Files() int { return cmp.Or(i.MaxFiles, 20) }

// Lines is the most lines that are added or removed.
func (i Implement) Lines() int { return cmp.Or(i.MaxLines, 800) }

// Bytes is the most bytes that the new texts have together.
func (i Implement) Bytes() int { return cmp.Or(i.MaxBytes, 400<<10) }

func implementKeys(i *Implement) keys {
	var most Implement
	return keys{
		whole("max-files", 1, most.Files(), &i.MaxFiles, most.Files()),
		whole("max-lines", 1, most.Lines(), &i.MaxLines, most.Lines()),
		whole("max-bytes", 1, most.Bytes(), &i.MaxBytes, most.Bytes()),
		choice("pull-request", &i.PullRequest, "draft", "draft", "link"),
	}
}
