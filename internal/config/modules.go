package config

import (
	"cmp"

	"github.com/goccy/go-yaml/ast"
)

// Module is a part of a repository in which a ticket may be implemented.
type Module struct {
	Name        string   `json:"name"`
	Paths       []string `json:"paths"`           // globs
	Tests       []string `json:"tests,omitempty"` // globs of its tests, in addition to paths
	Description string   `json:"description,omitempty"`
	Rules       []string `json:"rules,omitempty"` // for whoever writes code there
}

func moduleKeys(m *Module) keys {
	return keys{
		text("name", &m.Name), textList("paths", &m.Paths, wrongGlob), textList("tests", &m.Tests, wrongGlob),
		text("description", &m.Description), textList("rules", &m.Rules, anyText),
	}
}

// checkModules returns a check that a module has paths and a unique name.
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

// Implement limits what is proposed for a ticket.
type Implement struct {
	MaxFiles    int    `json:"max_files,omitzero"`
	MaxLines    int    `json:"max_lines,omitzero"`
	MaxBytes    int    `json:"max_bytes,omitzero"`
	PullRequest string `json:"pull_request,omitzero"` // draft or link; empty for draft
}

// Files returns the most files that a change may touch.
func (i Implement) Files() int { return cmp.Or(i.MaxFiles, 20) }

// Lines returns the most lines that a change may add or remove.
func (i Implement) Lines() int { return cmp.Or(i.MaxLines, 800) }

// Bytes returns the largest total size of the new texts, in bytes.
func (i Implement) Bytes() int { return cmp.Or(i.MaxBytes, 400<<10) }

func implementKeys(i *Implement) keys {
	var most Implement
	return keys{
		integer("max-files", most.Files(), &i.MaxFiles, most.Files()),
		integer("max-lines", most.Lines(), &i.MaxLines, most.Lines()),
		integer("max-bytes", most.Bytes(), &i.MaxBytes, most.Bytes()),
		choice("pull-request", &i.PullRequest, "draft", "draft", "link"),
	}
}
