package config

import (
	"cmp"
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Parse reads a settings file with nothing below it; name is what errors call it.
func Parse(name string, text []byte) (Config, error) { return File{Path: name}.Parse(text) }

// Parse reads the text of the file. Every mistake is reported up to maxProblems, each as
// an *Error, joined in the file's order; those of the defaults alone where there are
// some. An empty text is the defaults.
func (f File) Parse(text []byte) (Config, error) {
	c, _, err := f.Read(text)
	return c, err
}

// Read is Parse, and says where each key stood.
func (f File) Read(text []byte) (Config, Lines, error) {
	c, lines := Default(), Lines{}
	halves := map[string]half{}
	below := &reader{file: "defaults", lines: lines, halves: halves}
	known := rootKeys(&c)
	known["locked"] = func(r *reader, n ast.Node) { c.Locked = r.lockable(n) }
	if err := cmp.Or(below.read([]byte(f.Defaults), known), errors.Join(below.all()...)); err != nil {
		return Config{}, nil, err
	}
	r := &reader{file: f.Path, lines: lines, halves: halves, defaults: c}
	err := r.read(text, rootKeys(&c))
	r.checkHalves(&c)
	if err := cmp.Or(errors.Join(below.all()...), err, errors.Join(r.all()...)); err != nil {
		return Config{}, nil, err
	}
	c.Overruled = r.overruled
	return c, lines, nil
}

// read reads a text by the keys that it may hold. Its mistakes are all's; an error ended it.
func (r *reader) read(text []byte, known keys) (err error) {
	text, err = readable(r.file, text)
	if err != nil {
		return err
	}
	// The parser works on text from the repository; a defect in it is the file's error, not the run's end.
	defer func() {
		if p := recover(); p != nil {
			err = &Error{File: r.file, Line: 1, Column: 1, What: "this is not YAML that can be read"}
		}
	}()
	// entries finds them, with all other mistakes
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return syntaxError(r.file, err)
	}
	for i, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if i > 0 {
			r.fail(doc.Body, "a second document; one is read")
			break
		}
		r.mapping(doc.Body, known)
	}
	return nil
}

func rootKeys(c *Config) keys {
	return keys{
		"ignore":    func(r *reader, n ast.Node) { c.Ignore = r.globs(n) },
		"max-lines": func(r *reader, n ast.Node) { r.whole(n, 1, mostLines, &c.MaxLines) },
		"admission": func(r *reader, n ast.Node) { r.mapping(n, admissionKeys(&c.Admission)) },

		"prices":            func(r *reader, n ast.Node) { r.prices(n, &c.Prices) },
		"max-cost":          func(r *reader, n ast.Node) { r.amount(n, &c.MaxCost) },
		"max-cost-per-pull": func(r *reader, n ast.Node) { r.amount(n, &c.MaxCostPerPull) },
		"max-cost-per-file": func(r *reader, n ast.Node) { r.amount(n, &c.MaxCostPerFile) },
		"models":            func(r *reader, n ast.Node) { r.mapping(n, modelKeys(&c.Models)) },
		"verify":            func(r *reader, n ast.Node) { r.unless(n, &c.NoVerify) },
		"classify":          func(r *reader, n ast.Node) { r.unless(n, &c.NoClassify) },
		"agent":             func(r *reader, n ast.Node) { r.mapping(n, agentKeys(&c.Agent)) },
		"model-options":     func(r *reader, n ast.Node) { r.mapping(n, optionKeys(&c.ModelOptions)) },
		"language":          func(r *reader, n ast.Node) { r.language(n, &c.Language) },
		"instructions":      func(r *reader, n ast.Node) { c.Instructions = r.paths(n) },
		"guidelines":        func(r *reader, n ast.Node) { c.Guidelines = r.guidelines(n) },

		"overview":   func(r *reader, n ast.Node) { r.overview(n, &c.Overview) },
		"report":     func(r *reader, n ast.Node) { r.mapping(n, reportKeys(&c.Report)) },
		"embeddings": func(r *reader, n ast.Node) { r.endpoint(n, &c.Embeddings.Model, embeddingKeys(&c.Embeddings)) },
		"rerank":     func(r *reader, n ast.Node) { r.endpoint(n, &c.Rerank.Model, rerankKeys(&c.Rerank)) },
		"index":      func(r *reader, n ast.Node) { r.mapping(n, indexKeys(&c.Index)) },

		"comments":     func(r *reader, n ast.Node) { r.mapping(n, commentKeys(&c.Comments)) },
		"handover":     func(r *reader, n ast.Node) { r.oneOf(n, Handovers(), &c.Handover) },
		"linters":      func(r *reader, n ast.Node) { r.mapping(n, linterKeys(&c.Linters)) },
		"environments": func(r *reader, n ast.Node) { c.Environments = r.environments(n) },
		"deciders":     func(r *reader, n ast.Node) { c.Deciders = r.logins(n) },
		"context":      func(r *reader, n ast.Node) { r.mapping(n, contextKeys(&c.Context)) },

		"modules":   func(r *reader, n ast.Node) { c.Modules = r.modules(n) },
		"protected": func(r *reader, n ast.Node) { c.Protected = r.globs(n) },
		"implement": func(r *reader, n ast.Node) { r.mapping(n, implementKeys(&c.Implement)) },
	}
}

func admissionKeys(a *Admission) keys {
	return keys{
		"drafts":     func(r *reader, n ast.Node) { r.policy(n, &a.Drafts) },
		"bots":       func(r *reader, n ast.Node) { r.policy(n, &a.Bots) },
		"authors":    func(r *reader, n ast.Node) { a.Authors = r.associations(n) },
		"label":      func(r *reader, n ast.Node) { r.text(n, &a.Label) },
		"skip-label": func(r *reader, n ast.Node) { r.text(n, &a.SkipLabel) },
		"on-demand":  func(r *reader, n ast.Node) { r.boolean(n, &a.OnDemand) },
	}
}

// syntaxError turns the parser's error into ours, with its place.
func syntaxError(name string, err error) error {
	e := &Error{File: name, Line: 1, Column: 1, What: "this is not valid YAML"}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		e.What += ": " + strings.Replace(syntax.Message, "character '\t' that cannot start any token",
			"a tab, and only spaces indent", 1)
		if syntax.Token != nil && syntax.Token.Position != nil {
			e.Line, e.Column = syntax.Token.Position.Line, syntax.Token.Position.Column
		}
	}
	return e
}
