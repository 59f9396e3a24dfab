package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/org/pr-review-action/internal/problem"
)

// File is a repository's settings file, with what a company sets below it.
type File struct {
	Path string // in the repository; what errors call it
	// YAML with the file's keys, which hold where the file does not set them, and locked: the names of
	// keys that the file cannot set. Empty for none
	Defaults string
	Inputs   map[string]string // what inputs and flags say that count before keys, by their names; see Inputs
}

// Parse reads a settings file with nothing below it; name is what errors call it.
func Parse(name string, text []byte) (Config, error) { return File{Path: name}.Parse(text) }

// Parse reads the text of the file. Every mistake is reported up to maxProblems, each as
// an *Error, joined in the file's order; those of the defaults alone where there are
// some. An empty text is the defaults, and so is nil, for a file that is not there: where
// somebody named it, Overruled says so.
func (f File) Parse(text []byte) (Config, error) {
	c, _, err := f.Read(text)
	if err == nil && text == nil && f.Path != DefaultPath && f.Path != "" {
		c.Overruled = append(c.Overruled, f.Path+" is not there where settings are read, so it sets nothing")
	}
	return c, err
}

// Read is Parse, and says where each key stood.
func (f File) Read(text []byte) (Config, Lines, error) {
	c, lines := Default(), Lines{}
	halves := map[string]half{}
	below := &reader{file: "defaults", lines: lines, halves: halves}
	known := append(rootKeys(&c), key{name: "locked", read: func(r *reader, n ast.Node) { c.Locked = r.lockable(n) }})
	if err := cmp.Or(below.read([]byte(f.Defaults), known), errors.Join(below.all()...)); err != nil {
		return Config{}, nil, err
	}
	r := &reader{file: f.Path, lines: lines, halves: halves, locked: c.Locked}
	defaults := c
	err := r.read(text, rootKeys(&c))
	r.checkHalves(&c, defaults)
	if err := cmp.Or(err, errors.Join(append(below.all(), r.all()...)...)); err != nil {
		return Config{}, nil, err
	}
	c.Overruled = r.overruled
	c, err = f.Over(c)
	return c, lines, err
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
			r.fail(doc.Body, "a second document; only one is read")
			break
		}
		r.mapping(doc.Body, known)
	}
	return nil
}

// lockable reads names of keys, which stand for those below them too.
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

// checkHalves fails where a model that writes has half a price: only what embeds and what
// reranks writes nothing. The price of one that the defaults name for that, or a file that
// may not, is dropped where another one does it: it is none that a cap could be held by.
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

// Over puts the inputs over settings that were read: from here on these hold.
func (f File) Over(c Config) (Config, error) {
	c.Cap, c.CapPerPull = c.MaxCost, c.MaxCostPerPull
	for _, k := range rootKeys(&c).inputs("") {
		if text, given := f.Inputs[k.input.Name]; given {
			if err := k.given(text); err != nil {
				return c, problem.Usage(fmt.Sprintf("input %s: %v", k.input.Name, err), "")
			}
		}
	}
	return c, nil
}

// Inputs lists the inputs that count before keys of the file.
func Inputs() (all []Input) {
	for _, k := range rootKeys(new(Config)).inputs("") {
		all = append(all, k.input)
	}
	return all
}

// Error is one thing wrong with a settings file, and where.
type Error struct {
	File         string
	Line, Column int
	What         string
	Hint         string // the nearest known name, or empty
}

// Error gives file:line:column and what is wrong, and the hint on a line of its own.
func (e *Error) Error() string { return e.Problem().Error() }

// Problem says so, as a mistake of whoever wrote the file.
func (e *Error) Problem() *problem.Error {
	p := &problem.Error{Kind: problem.Misuse, What: fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)}
	if e.Hint != "" {
		p.Rows = [][2]string{{"", fmt.Sprintf("did you mean %q?", e.Hint)}}
	}
	return p
}

// MaxSize is the largest settings file that is read, in bytes.
const MaxSize = 64 << 10

// maxNesting is how deep brackets stand in brackets at most. The parser's time
// grows with the square of it.
const maxNesting = 20

// readable refuses what the parser should not see, and takes off the mark that
// some editors put before UTF-8.
func readable(name string, text []byte) ([]byte, error) {
	e := &Error{File: name, Line: 1, Column: 1}
	if len(text) > MaxSize {
		e.What = fmt.Sprintf("the file has %d bytes; %d are the most that is read", len(text), MaxSize)
		return nil, e
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch {
	case !utf8.Valid(text):
		e.What = "this is not UTF-8"
		e.Line, e.Column = place(text, invalid(text))
	case bytes.IndexByte(text, 0) >= 0:
		e.What = "a NUL byte, which no text has"
		e.Line, e.Column = place(text, bytes.IndexByte(text, 0))
	default:
		return text, nested(e, text)
	}
	return nil, e
}

// nested fails where brackets stand too deep in others.
func nested(e *Error, text []byte) error {
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

// invalid is the index of the first byte that is not UTF-8.
func invalid(text []byte) int {
	for i := range string(text) {
		if r, n := utf8.DecodeRune(text[i:]); r == utf8.RuneError && n == 1 {
			return i
		}
	}
	return 0
}

// place is the line and the column, in characters, of a byte.
func place(text []byte, at int) (line, column int) {
	before := text[:at]
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
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
