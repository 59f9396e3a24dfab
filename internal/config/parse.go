package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxSize is the largest settings file that is read, in bytes.
const MaxSize = 64 << 10

// Parse reads a settings file; name is what errors call it. Every mistake is
// reported, each as an *Error, joined. An empty file is the default.
func Parse(name string, text []byte) (c Config, err error) {
	r := &reader{file: name}
	if len(text) > MaxSize {
		return Config{}, &Error{File: name, Line: 1, Column: 1, What: fmt.Sprintf("the file has %d bytes; %d are the most that is read", len(text), MaxSize)}
	}
	// The parser works on text from the repository; a defect in it is the file's error, not the run's end.
	defer func() {
		if p := recover(); p != nil {
			c, err = Config{}, &Error{File: name, Line: 1, Column: 1, What: "this is not YAML that can be read"}
		}
	}()
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return Config{}, syntaxError(name, err)
	}
	c = Default()
	for i, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if i > 0 {
			r.fail(doc.Body, "a second document; one is read")
			break
		}
		r.mapping(doc.Body, rootKeys(&c))
	}
	if len(r.problems) > 0 {
		return Config{}, errors.Join(r.problems...)
	}
	return c, nil
}

// keys are the known names of a mapping, each with what reads its value.
type keys map[string]func(*reader, ast.Node)

func rootKeys(c *Config) keys {
	return keys{
		"ignore":    func(r *reader, n ast.Node) { c.Ignore = r.globs(n) },
		"admission": func(r *reader, n ast.Node) { r.mapping(n, admissionKeys(&c.Admission)) },
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

// reader walks a parsed file and collects what is wrong with it.
type reader struct {
	file     string
	problems []error
}

func (r *reader) fail(n ast.Node, format string, args ...any) *Error {
	e := &Error{File: r.file, Line: 1, Column: 1, What: fmt.Sprintf(format, args...)}
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		e.Line, e.Column = tok.Position.Line, tok.Position.Column
	}
	r.problems = append(r.problems, e)
	return e
}

func (r *reader) mapping(n ast.Node, known keys) {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	case *ast.NullNode:
		return
	default:
		r.fail(n, "expected keys with values, got %s", kind(n))
		return
	}
	for _, v := range values {
		name := v.Key.String()
		read, ok := known[name]
		if !ok {
			e := r.fail(v.Key, "unknown key %q", name)
			e.Hint = Nearest(name, sortedNames(known))
			continue
		}
		read(r, v.Value)
	}
}

func (r *reader) text(n ast.Node, into *string) bool {
	s, ok := n.(*ast.StringNode)
	if !ok {
		r.fail(n, "expected text, got %s", kind(n))
		return false
	}
	*into = s.Value
	return true
}

func (r *reader) boolean(n ast.Node, into *bool) {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		r.fail(n, "expected true or false, got %s", kind(n))
		return
	}
	*into = b.Value
}

func (r *reader) policy(n ast.Node, into *Policy) {
	var s string
	if !r.text(n, &s) {
		return
	}
	if p := Policy(s); p != Skip && p != Review {
		r.fail(n, "%q is none of skip, review", s)
		return
	}
	*into = Policy(s)
}

func (r *reader) list(n ast.Node) []ast.Node {
	switch s := n.(type) {
	case *ast.SequenceNode:
		return s.Values
	case *ast.NullNode:
		return nil
	}
	r.fail(n, "expected a list, got %s", kind(n))
	return nil
}

func (r *reader) globs(n ast.Node) []string {
	var globs []string
	for _, item := range r.list(n) {
		var glob string
		if !r.text(item, &glob) {
			continue
		}
		if glob == "" || !doublestar.ValidatePattern(glob) {
			r.fail(item, "%q is not a glob", glob)
			continue
		}
		globs = append(globs, glob)
	}
	return globs
}

func (r *reader) associations(n ast.Node) []string {
	items := []ast.Node{n}
	if s, single := n.(*ast.StringNode); !single || s == nil {
		items = r.list(n)
	}
	var names []string
	for _, item := range items {
		var name string
		if !r.text(item, &name) {
			continue
		}
		name = strings.ToLower(name)
		if !slices.Contains(Associations(), name) {
			e := r.fail(item, "%q is none of %s", name, strings.Join(Associations(), ", "))
			e.Hint = Nearest(name, Associations())
			continue
		}
		names = append(names, name)
	}
	return names
}

// syntaxError turns the parser's error into ours, with its place.
func syntaxError(name string, err error) error {
	e := &Error{File: name, Line: 1, Column: 1, What: "this is not valid YAML"}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		e.What += ": " + syntax.Message
		if syntax.Token != nil && syntax.Token.Position != nil {
			e.Line, e.Column = syntax.Token.Position.Line, syntax.Token.Position.Column
		}
	}
	return e
}

func sortedNames(known keys) []string {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys with values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.BoolNode:
		return "true or false"
	case *ast.IntegerNode, *ast.FloatNode:
		return "a number"
	case *ast.NullNode:
		return "nothing"
	}
	return "something else"
}
