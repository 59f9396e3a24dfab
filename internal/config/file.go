package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/problem"
)

// File is a repository's settings file, with a company's defaults below it.
type File struct {
	Path string // in the repository; errors name it
	Here []byte // its text, if it is a file of this machine and not one in the repository; nil otherwise
	// YAML with the same keys, for what the file does not set, and a list, locked, of keys
	// that the file cannot set. May be empty
	Defaults string

	MaxCost, MaxCostPerPull cost.MicroUSD // inputs that override the keys of these names; 0: not given
}

// InRepository returns the path of the repository's own settings file, in whose place one of this machine may be read.
func (f File) InRepository() string {
	if f.Here != nil {
		return DefaultPath
	}
	return f.Path
}

// Parse parses a settings file without defaults below it; errors call it name.
func Parse(name string, text []byte) (Config, error) { return File{Path: name}.Parse(text) }

// Parse parses the text of the file. It reports up to maxProblems mistakes, each as an
// *Error, joined in the file's order. Mistakes in Defaults are reported alone. An empty
// text means the defaults. So does nil, for a file that does not exist; if its path was
// given, Overruled says so.
func (f File) Parse(text []byte) (Config, error) {
	c, _, err := f.Read(text)
	if err == nil && text == nil && f.Path != DefaultPath && f.Path != "" {
		c.Overruled = append(c.Overruled, f.Path+" is not there where settings are read, so it sets nothing")
	}
	return c, err
}

// Misnamed returns a warning for each name in the folder of a missing file that was perhaps meant to be it, such as
// pr-review.yaml. None of these files is read.
func (f File) Misnamed(names []string) (lines []string) {
	same := func(name string) string {
		return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(strings.TrimSuffix(name, path.Ext(name))))
	}
	for _, name := range names {
		if own := path.Base(f.Path); name != own && same(name) == same(own) {
			lines = append(lines, path.Join(path.Dir(f.Path), name)+" is not read: settings are in "+f.Path)
		}
	}
	return lines
}

// Read is like Parse, and also returns where each key was set.
func (f File) Read(text []byte) (Config, Lines, error) {
	c, lines := Default(), Lines{}
	halves := map[string]half{}
	below := &reader{file: "defaults", lines: lines, halves: halves}
	known := append(rootKeys(&c), key{name: "locked", read: func(r *reader, n ast.Node) { c.Locked = r.lockable(n) }})
	if err := cmp.Or(below.read([]byte(f.Defaults), known), errors.Join(below.sortedErrors()...)); err != nil {
		return Config{}, nil, err
	}
	r := &reader{file: f.Path, lines: lines, halves: halves, locked: c.Locked}
	defaults := c
	err := r.read(text, rootKeys(&c))
	r.checkHalves(&c, defaults)
	if err := cmp.Or(err, errors.Join(append(below.sortedErrors(), r.sortedErrors()...)...)); err != nil {
		return Config{}, nil, err
	}
	c.Overruled = r.overruled
	return f.Over(c), lines, nil
}

// read reads a text that may hold the known keys. Mistakes are collected for all; an error ended the reading.
func (r *reader) read(text []byte, known keys) (err error) {
	text, err = cleanText(r.file, text)
	if err != nil {
		return err
	}
	// The parser works on text from the repository; a defect in it must not end the run.
	defer func() {
		if p := recover(); p != nil {
			err = &Error{File: r.file, Line: 1, Column: 1, What: "this is not YAML that can be read"}
		}
	}()
	// entries reports duplicates, with all other mistakes
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return syntaxError(r.file, err)
	}
	for i, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if i > 0 {
			r.fail(doc.Body, "a second document; only one is read")
			break
		}
		r.mapping(doc.Body, known)
	}
	return nil
}

// lockable reads the names of keys to lock. A name also stands for the keys below it.
func (r *reader) lockable(n ast.Node) []string {
	var known []string
	for _, v := range Default().Values() {
		outer, _, _ := strings.Cut(v.Key, ".")
		known = append(known, outer, v.Key)
	}
	return r.texts(n, func(item ast.Node, name string) bool {
		if slices.Contains(known, name) {
			return true
		}
		e := r.fail(item, "%.60q is not the name of a key, such as deciders or admission.authors", name)
		if len(r.problems) <= maxProblems { // the others are counted
			e.Hint = problem.Nearest(name, known)
		}
		return false
	})
}

// checkHalves reports a model that generates text and has no output price; a model that only
// embeds or reranks needs none. If the defaults, or a part of the file without effect, named such
// a model and another one now takes its place, the half price is dropped: no cap can rely on it.
func (r *reader) checkHalves(c *Config, defaults Config) {
	overruled := slices.ContainsFunc(r.overruled, func(line string) bool {
		return strings.Contains(line, " embeddings") || strings.Contains(line, " rerank")
	})
	for model, at := range r.halves {
		switch {
		case c.WritesNothing(model):
		case defaults.WritesNothing(model), overruled && at.reader == r:
			delete(c.Prices, model)
		default:
			at.fail(at.key, "the price of %.60q needs output, in USD per million tokens", model)
		}
	}
}

// Over applies the inputs to settings that were read. From here on they override the keys.
func (f File) Over(c Config) Config {
	c.Cap, c.CapPerPull = cmp.Or(f.MaxCost, c.MaxCost), cmp.Or(f.MaxCostPerPull, c.MaxCostPerPull)
	return c
}

// Error is one mistake in a settings file, and where it is.
type Error struct {
	File         string
	Line, Column int
	What         string
	Hint         string // the nearest known name, or empty
}

// Error returns file:line:column, what is wrong, and the hint on its own line.
func (e *Error) Error() string { return e.Problem().Error() }

// Problem returns the mistake as one of the settings' author.
func (e *Error) Problem() *problem.Error {
	p := &problem.Error{Kind: problem.Misuse, What: fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)}
	if e.Hint != "" {
		p.Rows = [][2]string{{"", fmt.Sprintf("did you mean %q?", e.Hint)}}
	}
	return p
}

// MaxSize is the largest settings file that is read, in bytes.
const MaxSize = 64 << 10

// maxNesting is the maximum depth of nested brackets. The parser's time grows with its square.
const maxNesting = 20

// cleanText rejects text that the parser should not see, and strips the byte order mark that
// some editors write.
func cleanText(name string, text []byte) ([]byte, error) {
	e := &Error{File: name, Line: 1, Column: 1}
	if len(text) > MaxSize {
		e.What = fmt.Sprintf("the file has %d bytes; %d are the most that is read", len(text), MaxSize)
		return nil, e
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		e.What = "this is not UTF-8 text"
		return nil, e
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), checkNesting(e, text)
}

// checkNesting returns an error if brackets are nested too deep.
func checkNesting(e *Error, text []byte) error {
	depth := 0
	for _, t := range lexer.Tokenize(string(text)) {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if depth > maxNesting {
			e.What = fmt.Sprintf("this is nested too deep; brackets are nested at most %d times", maxNesting)
			e.Line, e.Column = t.Position.Line, t.Position.Column
			return e
		}
	}
	return nil
}

// syntaxError converts the parser's error into an *Error with its position.
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
